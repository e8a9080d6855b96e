// The workers of the bench that are written in Go: main gozk HOSTS, and main etcd ENDPOINT. See bench/worker.h for the
// orders and the answers.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

const (
	session  = 10 * time.Second
	settle   = 60 * time.Second
	maxShown = 1 << 18
)

type lock interface {
	Lock() error
	Unlock() error
}

// A system makes locks; client tells through which session.
type system interface {
	newLock(client int, path string) lock
	queued(client int, path string) int // how many nodes the path has; -1: unknown
}

func fail(err error) {
	if err != nil {
		fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
}

// --- go-zookeeper/zk -----------------------------------------------------------------------------------------------

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

type gozk struct {
	hosts   []string
	clients []*zk.Conn
}

func (s *gozk) client(i int) *zk.Conn {
	for len(s.clients) <= i {
		conn, _, err := zk.Connect(s.hosts, session, zk.WithLogger(silent{}))
		fail(err)
		for conn.State() != zk.StateHasSession {
			time.Sleep(time.Millisecond)
		}
		s.clients = append(s.clients, conn)
	}
	return s.clients[i]
}

func (s *gozk) newLock(client int, path string) lock {
	return zk.NewLock(s.client(client), path, zk.WorldACL(zk.PermAll))
}

func (s *gozk) queued(client int, path string) int {
	children, _, err := s.client(client).Children(path)
	fail(err)
	return len(children)
}

// --- etcd ------------------------------------------------------------------------------------------------------------

type etcd struct {
	client *clientv3.Client
}

func newEtcd(endpoint string) *etcd {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{endpoint}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	fail(err)
	return &etcd{client}
}

type etcdLock struct{ mutex *concurrency.Mutex }

func (l etcdLock) Lock() error   { return l.mutex.Lock(context.Background()) }
func (l etcdLock) Unlock() error { return l.mutex.Unlock(context.Background()) }

// Two mutexes of one session and one key are one lock that both own: each lock gets a session.
func (s *etcd) newLock(_ int, path string) lock {
	session, err := concurrency.NewSession(s.client, concurrency.WithTTL(10))
	fail(err)
	return etcdLock{concurrency.NewMutex(session, path)}
}

func (s *etcd) queued(_ int, path string) int {
	r, err := s.client.Get(context.Background(), path+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	fail(err)
	return int(r.Count)
}

// --- usage -----------------------------------------------------------------------------------------------------------

type usage struct {
	time     time.Time
	cpu      time.Duration
	switches int64
	cycles   int64
}

var cycles atomic.Int64

func now() usage {
	var r syscall.Rusage
	fail(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	cpu := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return usage{time.Now(), cpu, r.Nvcsw + r.Nivcsw, cycles.Load()}
}

func result(a, b usage) string {
	return fmt.Sprintf("result cycles=%d seconds=%.6f cpu_us=%d switches=%d", b.cycles-a.cycles,
		b.time.Sub(a.time).Seconds(), (b.cpu - a.cpu).Microseconds(), b.switches-a.switches)
}

func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	fail(err)
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return float64(pages*os.Getpagesize()) / 1024
}

// --- orders ----------------------------------------------------------------------------------------------------------

type order map[string]string

func (o order) number(key string, absent int) int {
	if n, err := strconv.Atoi(o[key]); err == nil {
		return n
	}
	return absent
}

func (o order) ms(key string) time.Duration {
	return time.Duration(o.number(key, 0)) * time.Millisecond
}

var in = bufio.NewScanner(os.Stdin)

func prepared() {
	fmt.Println("prepared")
	in.Scan()
}

func once(l lock) {
	fail(l.Lock())
	fail(l.Unlock())
}

func sit(l lock, counting, stop *atomic.Bool) (samples []int64) {
	for !stop.Load() {
		from := time.Now()
		once(l)
		cycles.Add(1)
		if counting.Load() && len(samples) < maxShown {
			samples = append(samples, time.Since(from).Nanoseconds())
		}
	}
	return samples
}

func percentiles(all []int64) string {
	if len(all) == 0 {
		return ""
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	at := func(i int) float64 { return float64(all[i]) / 1e3 }
	return fmt.Sprintf(" p10_us=%.2f p50_us=%.2f p99_us=%.2f", at(len(all)/10), at(len(all)/2), at(len(all)*99/100))
}

func run(o order, locks []lock) {
	var counting, stop atomic.Bool
	var wait sync.WaitGroup
	samples := make([][]int64, len(locks))
	cycles.Store(0)
	for i, l := range locks {
		wait.Add(1)
		go func(i int, l lock) {
			defer wait.Done()
			samples[i] = sit(l, &counting, &stop)
		}(i, l)
	}
	time.Sleep(o.ms("warm"))
	a := now()
	counting.Store(true)
	time.Sleep(o.ms("ms"))
	b := now()
	stop.Store(true)
	wait.Wait()
	var all []int64
	least := len(samples[0])
	for _, s := range samples {
		all = append(all, s...)
		least = min(least, len(s))
	}
	share := float64(least*len(samples)) / math.Max(1, float64(len(all)))
	fmt.Println(result(a, b) + fmt.Sprintf(" total=%d", cycles.Load()) + percentiles(all) +
		fmt.Sprintf(" least=%.3f", share))
}

func cycle(s system, o order) {
	clients, own := o.number("clients", 1), o["own"] == "1"
	var locks []lock
	for i := 0; i < o.number("threads", 1); i++ {
		path := o["path"]
		if own {
			path += "-" + strconv.Itoa(i)
		}
		locks = append(locks, s.newLock(i%clients, path))
		once(locks[i])
	}
	prepared()
	run(o, locks)
}

func waiters(s system, o order) {
	n, clients := o.number("n", 1), o.number("clients", 1)
	holder := s.newLock(0, o["path"])
	for i := 0; i < clients; i++ {
		once(s.newLock(i, o["path"]))
	}
	fail(holder.Lock())
	prepared()
	var wait sync.WaitGroup
	before, from := resident(), time.Now()
	for i := 0; i < n; i++ {
		l := s.newLock(i%clients, o["path"])
		wait.Add(1)
		go func() {
			defer wait.Done()
			once(l)
		}()
	}
	for s.queued(0, o["path"]) < n+1 && time.Since(from) < settle {
		time.Sleep(10 * time.Millisecond)
	}
	queued, after := time.Since(from), resident()
	a := now()
	fail(holder.Unlock())
	wait.Wait()
	b := now()
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n) }
	fmt.Println(result(a, b) + fmt.Sprintf(" queue_us=%.2f drain_us=%.2f kib=%.3f", each(queued), each(b.time.Sub(a.time)),
		(after-before)/float64(n)))
}

func held(s system, o order) {
	var locks []lock
	for i := 0; i < o.number("n", 1); i++ {
		l := s.newLock(0, o["path"]+"-held/"+strconv.Itoa(i))
		fail(l.Lock())
		locks = append(locks, l)
	}
	one := s.newLock(0, o["path"])
	once(one)
	prepared()
	run(o, []lock{one})
	for _, l := range locks {
		fail(l.Unlock())
	}
}

func idle(s system, o order) {
	l := s.newLock(0, o["path"])
	fail(l.Lock())
	prepared()
	a := now()
	time.Sleep(o.ms("ms"))
	fmt.Println(result(a, now()))
	fail(l.Unlock())
}

func obey(s system, line string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	o := order{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		o[key] = value
	}
	verbs := map[string]func(system, order){"cycle": cycle, "waiters": waiters, "held": held, "idle": idle}
	if verbs[words[0]] == nil {
		fail(fmt.Errorf("no such order: %s", words[0]))
	}
	verbs[words[0]](s, o)
}

func main() {
	if len(os.Args) != 3 {
		os.Exit(64)
	}
	var s system = &gozk{hosts: strings.Split(os.Args[2], ",")}
	if os.Args[1] == "etcd" {
		s = newEtcd(os.Args[2])
	}
	fmt.Println("ready")
	for in.Scan() {
		obey(s, in.Text())
	}
}
