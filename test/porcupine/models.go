package main

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"
)

// An operation whose outcome is unknown (its process was killed, its connection lost) has an open interval: it may take
// effect at any time after its call, or after everything else, where it changes no answer.
const open = math.MaxInt64

type law struct {
	name string
	// The operations of a run, and the model that they must fit.
	operations func(e *evidence) []porcupine.Operation
	model      porcupine.Model
}

var laws = []law{
	{"lock", lockOperations, lockModel},
	{"tokens", tokenOperations, tokenModel},
	{"register", registerOperations, registerModel},
}

// An operation of any of the models.
type act struct {
	name  string
	id    int // of a request
	token int64
	turn  int64 // of a grant
	// of a write: the version it made; 0 when the outcome is unknown
	version int64
}

func operation(client int, a act, begin, end int64) porcupine.Operation {
	return porcupine.Operation{ClientId: client, Input: a, Call: begin, Return: end}
}

func describe(input, _ interface{}) string {
	a := input.(act)
	if a.name == "write" {
		return fmt.Sprintf("write by %d: version %d", a.token, a.version)
	}
	return fmt.Sprintf("%s %d (request %d)", a.name, a.token, a.id)
}

// The lock is free or held by one request. It is acquired between the call and its return. It is released, by unlock or
// by the servers, at some time after the holder's last claim.
var lockModel = porcupine.Model{
	Init: func() interface{} { return 0 },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		a := input.(act)
		if a.name == "acquire" {
			return state.(int) == 0, a.id
		}
		return state.(int) == a.id, 0
	},
	DescribeOperation: describe,
}

func lockOperations(e *evidence) (ops []porcupine.Operation) {
	for i, q := range e.requests {
		released := max(q.asked, q.lastClaim)
		until := q.unlocked
		if until == never {
			until = open
		}
		ops = append(ops,
			operation(q.place, act{name: "acquire", id: i + 1, token: q.token}, q.asked, q.granted),
			operation(q.place, act{name: "release", id: i + 1, token: q.token}, released, until))
	}
	return ops
}

// What a resource sees that is shown the token with each use, and the turn under its node. Each grant has a larger token
// than all before, or the same and a later turn. A use is never by an older grant than the newest.
type newest struct{ token, turn int64 }

var tokenModel = porcupine.Model{
	Init: func() interface{} { return newest{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		s, a := state.(newest), input.(act)
		if a.name == "grant" {
			return a.token > s.token || (a.token == s.token && a.turn > s.turn), newest{a.token, a.turn}
		}
		return a.token == s.token && a.turn == s.turn, state
	},
	DescribeOperation: describe,
}

func tokenOperations(e *evidence) (ops []porcupine.Operation) {
	for i, q := range e.requests {
		if q.token == 0 {
			continue
		}
		ops = append(ops, operation(q.place, act{name: "grant", id: i + 1, token: q.token, turn: q.turn}, q.asked, q.granted))
		if q.nClaims > 0 {
			ops = append(ops, operation(q.place, act{name: "use", id: i + 1, token: q.token, turn: q.turn}, q.lastClaim, q.lastClaim))
		}
	}
	return ops
}

// The register has the newest grant and a version. A write that the servers accepted is by the newest grant, and makes
// the next version. One of unknown outcome does so, too, or nothing if a newer grant was made.
type register struct{ newest, version int64 }

var registerModel = porcupine.Model{
	Init: func() interface{} { return register{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		s, a := state.(register), input.(act)
		if a.name == "grant" {
			return true, register{max(s.newest, a.token), s.version}
		}
		if a.version == 0 && a.token < s.newest {
			return true, s
		}
		next := register{s.newest, s.version + 1}
		return a.token == s.newest && (a.version == 0 || a.version == next.version), next
	},
	DescribeOperation: describe,
}

func registerOperations(e *evidence) (ops []porcupine.Operation) {
	for i, q := range e.requests {
		if q.token != 0 {
			ops = append(ops, operation(q.place, act{name: "grant", id: i + 1, token: q.token}, q.asked, q.granted))
		}
	}
	for _, w := range e.writes {
		ops = append(ops, operation(0, act{name: "write", token: w.token, version: w.version}, w.begin, w.end))
	}
	return ops
}
