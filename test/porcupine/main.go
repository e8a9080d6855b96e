/*
The histories of test/chaos, judged by Porcupine, a checker of linearizability that is not ours. It reads the histories
alone, and not the servers' logs.

	porcupine [-limit DURATION] DIR|FILE.txt...

A DIR has the evidence of a run (`test/chaos/run --out DIR`), a FILE.txt a run as text (histories/). Three models are
tried: the lock, the tokens, and the register that holders write through a guard (models.go says what they are, and
grants.go what is taken from the histories). For a model that does not fit, DIR/porcupine-MODEL.html shows how far it
did. Prints a line for each model. Exits 0 when all fit, 1 when one does not, 99 when there is no verdict: nothing to
judge, or the limit passed.

doc/proof.md says what this shows and what it cannot. `make porcupine HISTORIES='DIR...'` builds and runs it.
*/
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	fits      = 0
	fitsNot   = 1
	noVerdict = 99
)

func main() {
	limit := flag.Duration("limit", 5*time.Minute, "for each model and run")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: porcupine [-limit DURATION] DIR|FILE.txt...")
		os.Exit(64)
	}
	worst := fits
	for _, name := range flag.Args() {
		worst = max(worst, judge(name, *limit))
	}
	os.Exit(worst)
}

func judge(name string, limit time.Duration) int {
	read := readRun
	if strings.HasSuffix(name, ".txt") {
		read = readText
	}
	all, err := read(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "porcupine:", err)
		return noVerdict
	}
	e := collect(all)
	if !summary(name, e) {
		fmt.Fprintf(os.Stderr, "porcupine: %s: no lock was granted\n", name)
		return noVerdict
	}
	worst := fits
	for _, law := range laws {
		worst = max(worst, try(name, law, law.operations(e), limit))
	}
	return worst
}

// What is judged, in one line. False: nothing is.
func summary(name string, e *evidence) bool {
	var grants, open, claims, excused, unknown int64
	for _, q := range e.requests {
		if q.token != 0 {
			grants++
		} else {
			open++
		}
		claims += q.nClaims
		excused += q.nExcused
	}
	for _, w := range e.writes {
		if w.version == 0 {
			unknown++
		}
	}
	fmt.Printf("%s: %d grants, %d requests without an end, %d claims (%d more not counted), "+
		"%d writes accepted, %d of unknown outcome, %d refused or not sent\n",
		name, grants, open, claims, excused, int64(len(e.writes))-unknown, unknown, e.nRefused)
	return grants > 0
}

func try(name string, law law, ops []porcupine.Operation, limit time.Duration) int {
	result, info := porcupine.CheckOperationsVerbose(law.model, ops, limit)
	switch result {
	case porcupine.Ok:
		fmt.Printf("  %-8s fits: %d operations\n", law.name, len(ops))
		return fits
	case porcupine.Illegal:
		fmt.Printf("  %-8s DOES NOT FIT: %d operations\n", law.name, len(ops))
		show(name, law, info)
		return fitsNot
	}
	fmt.Printf("  %-8s no verdict within %v: %d operations\n", law.name, limit, len(ops))
	return noVerdict
}

// Only beside evidence: a text is a test's.
func show(name string, law law, info porcupine.LinearizationInfo) {
	if strings.HasSuffix(name, ".txt") {
		return
	}
	page := filepath.Join(name, "porcupine-"+law.name+".html")
	if err := porcupine.VisualizePath(law.model, info, page); err != nil {
		fmt.Fprintln(os.Stderr, "porcupine:", err)
		return
	}
	fmt.Printf("  %-8s see %s\n", "", page)
}
