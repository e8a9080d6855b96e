package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The events of test/lib/history.h, in its order.
const (
	blank = iota
	asked
	granted
	failed
	question
	told
	unlocking
	unlocked
	ended
	session
	faultBegins
	faultEnds
	killed
	stopped
	continued
	born
	wall
	healed
	leftover
	setting
	writing
	wrote
	part
	turn
	jobBegins
	jobBegun
	jobEnds
	jobEnded
	nEvents
)

var eventNames = [nEvents]string{
	"blank", "asked", "granted", "failed", "question", "told", "unlocking", "unlocked", "ended", "session",
	"fault-begins", "fault-ends", "killed", "stopped", "continued", "born", "wall", "healed", "leftover", "setting", "writing", "wrote", "part",
	"turn", "job-begins", "job-begun", "job-ends", "job-ended",
}

type record struct {
	NS      int64
	Event   int32
	RC      int32
	Token   int64
	Session int64
	ValidMS int64
	Kind    int32
	PID     int32
	Node    [56]byte
}

func (r *record) node() string { return strings.TrimRight(string(r.Node[:]), "\x00") }

// The acts of one process. Place -1 is the nemesis.
type process struct {
	place   int
	records []record
}

// The start of a history, up to its records.
type header struct {
	Magic             [8]byte
	Place, Generation int32
	PID, N            int32
	_                 [92]byte
	_                 [4]byte
}

const (
	magic      = "chaos 3\x00"
	recordsMax = 1 << 18
)

func fileSize() int64 { return int64(binary.Size(header{})) + recordsMax*int64(binary.Size(record{})) }

func readProcess(file string) (process, error) {
	var h header
	f, err := os.Open(file)
	if err != nil {
		return process{}, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() != fileSize() {
		return process{}, fmt.Errorf("%s: not the size of a history", file)
	}
	in := bufio.NewReader(f)
	if err = binary.Read(in, binary.LittleEndian, &h); err != nil || string(h.Magic[:]) != magic {
		return process{}, fmt.Errorf("%s: no history of this version", file)
	}
	p := process{place: int(h.Place), records: make([]record, min(h.N, recordsMax))}
	return p, binary.Read(in, binary.LittleEndian, p.records)
}

// The histories of a run: DIR/*.history.
func readRun(dir string) ([]process, error) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.history"))
	var all []process
	for _, file := range files {
		p, err := readProcess(file)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no histories", dir)
	}
	return all, nil
}

// A run in one text file, for the tests: lines "NS PLACE EVENT field=value…", NODE last, which may have spaces. A place
// is "nemesis" or a number, and "4.2" is the second process in place 4.
func readText(file string) ([]process, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	var all []process
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		r, err := parse(line, words)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		name := words[1]
		if _, known := index[name]; !known {
			index[name] = len(all)
			all = append(all, process{place: placeOf(name)})
		}
		p := &all[index[name]]
		p.records = append(p.records, r)
	}
	return all, nil
}

func placeOf(name string) int {
	number, _, _ := strings.Cut(name, ".")
	if place, err := strconv.Atoi(number); err == nil {
		return place
	}
	return -1
}

func parse(line string, words []string) (r record, err error) {
	if len(words) < 3 {
		return r, errors.New("not NS PLACE EVENT")
	}
	if r.NS, err = strconv.ParseInt(words[0], 10, 64); err != nil {
		return r, err
	}
	for i, name := range eventNames {
		if name == words[2] {
			r.Event = int32(i)
		}
	}
	if r.Event == blank {
		return r, fmt.Errorf("no event %q", words[2])
	}
	if before, node, found := strings.Cut(line, "node="); found {
		copy(r.Node[:], node)
		words = strings.Fields(before)
	}
	return r, parseFields(&r, words[3:])
}

func parseFields(r *record, words []string) error {
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		switch name {
		case "rc":
			r.RC = int32(value)
		case "kind":
			r.Kind = int32(value)
		case "token":
			r.Token = value
		case "session":
			r.Session = value
		case "valid", "version":
			r.ValidMS = value
		default:
			return fmt.Errorf("no field %q", name)
		}
	}
	return nil
}
