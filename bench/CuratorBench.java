import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** The worker of the bench on Curator: CuratorBench HOSTS. See bench/worker.h for the orders and the answers. */
public final class CuratorBench {
    private static final int SESSION_MS = 10000;
    private static final int SETTLE_MS = 60000;
    private static final int MAX_SAMPLES = 1 << 18;
    private static final int STACK_BYTES = 512 * 1024;

    private static final List<CuratorFramework> CLIENTS = new ArrayList<>();
    private static final BufferedReader IN = new BufferedReader(new InputStreamReader(System.in));
    private static final OperatingSystemMXBean SYSTEM =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final AtomicLong CYCLES = new AtomicLong();
    private static String hosts;
    private static volatile boolean counting;
    private static volatile boolean stop;

    private interface Verb {
        void run(Map<String, String> order) throws Exception;
    }

    private static CuratorFramework client(int i) throws InterruptedException {
        while (CLIENTS.size() <= i) {
            CuratorFramework one =
                CuratorFrameworkFactory.newClient(hosts, SESSION_MS, 15000, new RetryOneTime(100));
            one.start();
            one.blockUntilConnected();
            CLIENTS.add(one);
        }
        return CLIENTS.get(i);
    }

    private static void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    private static void prepared() throws Exception {
        say("prepared");
        if (IN.readLine() == null) {
            System.exit(0);
        }
    }

    private static int number(Map<String, String> order, String key, int absent) {
        return order.containsKey(key) ? Integer.parseInt(order.get(key)) : absent;
    }

    private static void once(InterProcessMutex lock) throws Exception {
        lock.acquire();
        lock.release();
    }

    /** The switches of all threads that live; the pools keep theirs. */
    private static long switches() throws Exception {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
            for (Path task : tasks) {
                sum += switchesOf(task.resolve("status"));
            }
        }
        return sum;
    }

    private static long switchesOf(Path status) {
        try {
            return Files.readAllLines(status).stream().filter(line -> line.contains("ctxt_switches"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
        } catch (Exception ended) {
            return 0;
        }
    }

    private static double residentKib() throws Exception {
        String[] words = Files.readString(Paths.get("/proc/self/statm")).split(" ");
        return Long.parseLong(words[1]) * 4.0;
    }

    /** Nanoseconds, CPU's nanoseconds, switches, cycles. */
    private static long[] usage() throws Exception {
        return new long[] {System.nanoTime(), SYSTEM.getProcessCpuTime(), switches(), CYCLES.get()};
    }

    private static String result(long[] a, long[] b) {
        return String.format(Locale.ROOT, "result cycles=%d seconds=%.6f cpu_us=%d switches=%d", b[3] - a[3],
            (b[0] - a[0]) / 1e9, (b[1] - a[1]) / 1000, b[2] - a[2]);
    }

    private static Thread start(Runnable work) {
        Thread thread = new Thread(null, work, "seat", STACK_BYTES);
        thread.setUncaughtExceptionHandler((which, error) -> fail(error));
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void fail(Throwable error) {
        say("error " + error.toString().replace('\n', ' '));
        Runtime.getRuntime().halt(1);
    }

    private static void sit(InterProcessMutex lock, long[] samples, AtomicInteger shown) {
        try {
            while (!stop) {
                long from = System.nanoTime();
                once(lock);
                CYCLES.incrementAndGet();
                if (counting && shown.get() < samples.length) {
                    samples[shown.getAndIncrement()] = System.nanoTime() - from;
                }
            }
        } catch (Exception error) {
            fail(error);
        }
    }

    private static String percentiles(long[] all) {
        if (all.length == 0) {
            return "";
        }
        Arrays.sort(all);
        return String.format(Locale.ROOT, " p10_us=%.2f p50_us=%.2f p99_us=%.2f", all[all.length / 10] / 1e3,
            all[all.length / 2] / 1e3, all[(int) (all.length * 99L / 100)] / 1e3);
    }

    private static void run(Map<String, String> order, List<InterProcessMutex> locks) throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<long[]> samples = new ArrayList<>();
        List<AtomicInteger> shown = new ArrayList<>();
        counting = false;
        stop = false;
        CYCLES.set(0);
        for (InterProcessMutex lock : locks) {
            long[] own = new long[MAX_SAMPLES / locks.size()];
            AtomicInteger n = new AtomicInteger();
            samples.add(own);
            shown.add(n);
            threads.add(start(() -> sit(lock, own, n)));
        }
        Thread.sleep(number(order, "warm", 0));
        long[] a = usage();
        counting = true;
        Thread.sleep(number(order, "ms", 500));
        long[] b = usage();
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        LongStream all = LongStream.empty();
        for (int i = 0; i < samples.size(); i++) {
            all = LongStream.concat(all, Arrays.stream(samples.get(i), 0, shown.get(i).get()));
        }
        int sum = shown.stream().mapToInt(AtomicInteger::get).sum();
        int least = shown.stream().mapToInt(AtomicInteger::get).min().orElse(0);
        say(result(a, b) + " total=" + CYCLES.get() + percentiles(all.toArray())
            + String.format(Locale.ROOT, " least=%.3f", (double) least * shown.size() / Math.max(1, sum)));
    }

    private static void cycle(Map<String, String> order) throws Exception {
        int clients = number(order, "clients", 1);
        boolean share = "1".equals(order.get("share"));
        List<InterProcessMutex> locks = new ArrayList<>();
        for (int i = 0; i < number(order, "threads", 1); i++) {
            String path = order.get("path") + ("1".equals(order.get("own")) ? "-" + i : "");
            if (share && i >= clients) {
                locks.add(locks.get(i % clients));
                continue;
            }
            locks.add(new InterProcessMutex(client(i % clients), path));
            once(locks.get(i));
        }
        prepared();
        run(order, locks);
    }

    private static void waitOnce(InterProcessMutex lock) {
        try {
            once(lock);
        } catch (Exception error) {
            fail(error);
        }
    }

    private static void waiters(Map<String, String> order) throws Exception {
        int n = number(order, "n", 1);
        int clients = number(order, "clients", 1);
        String path = order.get("path");
        InterProcessMutex holder = new InterProcessMutex(client(0), path);
        for (int i = 0; i < clients; i++) {
            once(new InterProcessMutex(client(i), path));
        }
        holder.acquire();
        prepared();
        double before = residentKib();
        long from = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            InterProcessMutex lock = new InterProcessMutex(client(i % clients), path);
            threads.add(start(() -> waitOnce(lock)));
        }
        while (client(0).getChildren().forPath(path).size() < n + 1
            && System.nanoTime() - from < SETTLE_MS * 1_000_000L) {
            Thread.sleep(10);
        }
        double queuedUs = (System.nanoTime() - from) / 1e3;
        double after = residentKib();
        long[] a = usage();
        holder.release();
        for (Thread thread : threads) {
            thread.join();
        }
        long[] b = usage();
        say(result(a, b) + String.format(Locale.ROOT, " queue_us=%.2f drain_us=%.2f kib=%.3f", queuedUs / n,
            (b[0] - a[0]) / 1e3 / n, (after - before) / n));
    }

    private static void held(Map<String, String> order) throws Exception {
        List<InterProcessMutex> locks = new ArrayList<>();
        for (int i = 0; i < number(order, "n", 1); i++) {
            locks.add(new InterProcessMutex(client(0), order.get("path") + "-held/" + i));
            locks.get(i).acquire();
        }
        InterProcessMutex one = new InterProcessMutex(client(0), order.get("path"));
        once(one);
        prepared();
        run(order, List.of(one));
        for (InterProcessMutex lock : locks) {
            lock.release();
        }
    }

    private static void idle(Map<String, String> order) throws Exception {
        InterProcessMutex lock = new InterProcessMutex(client(0), order.get("path"));
        lock.acquire();
        prepared();
        long[] a = usage();
        Thread.sleep(number(order, "ms", 500));
        say(result(a, usage()));
        lock.release();
    }

    private static void obey(String line) throws Exception {
        Map<String, Verb> verbs = Map.of("cycle", CuratorBench::cycle, "waiters", CuratorBench::waiters, "held",
            CuratorBench::held, "idle", CuratorBench::idle);
        String[] words = line.trim().split(" +");
        Map<String, String> order = new HashMap<>();
        for (int i = 1; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            order.put(pair[0], pair[1]);
        }
        verbs.get(words[0]).run(order);
    }

    public static void main(String[] args) {
        hosts = args[0];
        say("ready");
        try {
            for (String line = IN.readLine(); line != null; line = IN.readLine()) {
                obey(line);
            }
        } catch (Exception error) {
            fail(error);
        }
        System.exit(0);
    }
}
