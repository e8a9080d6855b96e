// The side of go-zookeeper/zk in the matrix: gozk HOSTS.
//
// It reads lines "RECIPE/N COMMAND [ARGUMENT...]" and answers "RECIPE/N WORD..." when the command is done; "ready"
// first. Each RECIPE/N is a contender with a session of its own; RECIPE is "lock". paddock_peer.c has the commands.
// A Lock has no limit of time: a contender that gives up closes its connection. Ends with its input.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	session = 10 * time.Second
	within  = time.Minute
	held    = 2 * time.Millisecond
)

var errBusy = errors.New("busy")

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

type contender struct {
	hosts []string
	conn  *zk.Conn
	lock  *zk.Lock
}

func (c *contender) connect() error {
	if c.conn != nil {
		return nil
	}
	conn, _, err := zk.Connect(c.hosts, session, zk.WithLogger(silent{}))
	c.conn = conn
	return err
}

// leave ends the session, and with it the node.
func (c *contender) leave() {
	if c.conn != nil {
		c.conn.Close()
	}
	c.conn, c.lock = nil, nil
}

func (c *contender) take(path string, limit time.Duration) error {
	if err := c.connect(); err != nil {
		return err
	}
	lock := zk.NewLock(c.conn, path, zk.WorldACL(zk.PermAll))
	result := make(chan error, 1)
	go func() { result <- lock.Lock() }()
	var err error
	select {
	case err = <-result:
	case <-time.After(limit):
		err = errBusy
	}
	if err != nil {
		c.leave()
		return err
	}
	c.lock = lock
	return nil
}

func (c *contender) free() error {
	if c.lock == nil {
		return nil
	}
	err := c.lock.Unlock()
	c.lock = nil
	return err
}

// meet tells whether another holder has created the file, which a holder deletes before it releases.
func meet(file string) bool {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600)
	time.Sleep(held)
	if err == nil {
		f.Close()
		os.Remove(file)
	}
	return errors.Is(err, fs.ErrExist)
}

func (c *contender) contend(path string, rounds int, file string) (int, error) {
	met := 0
	for i := 0; i < rounds; i++ {
		if err := c.take(path, within); err != nil {
			return met, err
		}
		if meet(file) {
			met++
		}
		if err := c.free(); err != nil {
			return met, err
		}
	}
	return met, nil
}

func (c *contender) answer(words []string) string {
	var err error
	switch {
	case words[1] == "try" && len(words) == 4:
		ms, _ := strconv.Atoi(words[3])
		err = c.take(words[2], time.Duration(ms)*time.Millisecond)
		if err == nil {
			return "held"
		}
	case words[1] == "free":
		err = c.free()
		if err == nil {
			return "freed"
		}
	case words[1] == "meet" && len(words) == 5:
		rounds, _ := strconv.Atoi(words[3])
		var met int
		met, err = c.contend(words[2], rounds, words[4])
		if err == nil {
			return "done " + strconv.Itoa(met)
		}
	default:
		err = errors.New("no such command")
	}
	if err == errBusy {
		return "busy"
	}
	return "error " + err.Error()
}

func main() {
	if len(os.Args) != 2 {
		os.Exit(64)
	}
	contenders := map[string]*contender{}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if len(words) < 2 {
			continue
		}
		c := contenders[words[0]]
		if c == nil {
			c = &contender{hosts: strings.Split(os.Args[1], ",")}
			contenders[words[0]] = c
		}
		fmt.Println(words[0], c.answer(words))
	}
	for _, c := range contenders {
		c.leave()
	}
}
