import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;

/**
 * A program that works under a Curator lock, as carefully as Curator allows: it ends at the first SUSPENDED, and asks
 * before each step. CuratorHolder HOSTS SESSION_MS; orders, and what it writes, as holder.c and work.h.
 */
public final class CuratorHolder {
    private static final int MUST_END = 0, PID = 1, FIRST = 2, LAST = 3, ENDED = 4, WOKE = 6, ANSWER = 7, FIELDS = 13;
    private static final long HELD = 1, LOST = 3, STOPPED_NS = 700_000_000L;

    private final CuratorFramework client;
    private final AtomicBoolean suspended = new AtomicBoolean();

    private CuratorHolder(String hosts, int sessionMs) throws Exception {
        client = CuratorFrameworkFactory.newClient(hosts, sessionMs, sessionMs, new RetryOneTime(100));
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                suspended.set(true);
            }
        });
        client.start();
    }

    private boolean mayWork(LongBuffer work, InterProcessMutex mutex) {
        long before = work.get(LAST);
        long asked = System.nanoTime(); // CLOCK_MONOTONIC
        boolean held = mutex.isAcquiredInThisProcess() && !suspended.get();
        if (before != 0 && asked - before > STOPPED_NS && work.get(WOKE) == 0) {
            work.put(ANSWER, held ? HELD : LOST);
            work.put(WOKE, asked);
        }
        if (held) {
            work.put(LAST, asked);
            if (work.get(FIRST) == 0) {
                work.put(FIRST, asked);
            }
        }
        return held;
    }

    private void work(LongBuffer work, String path) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        client.blockUntilConnected();
        work.put(PID, ProcessHandle.current().pid());
        suspended.set(false);
        mutex.acquire();
        while (mayWork(work, mutex) && work.get(MUST_END) == 0) {
            Thread.sleep(1);
        }
        work.put(ENDED, System.nanoTime());
        try {
            mutex.release();
        } catch (Exception e) {
            // its node went with the session
        }
    }

    public static void main(String[] args) throws Exception {
        CuratorHolder holder = new CuratorHolder(args[0], Integer.parseInt(args[1]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            try (FileChannel file = FileChannel.open(Paths.get(words[1]), StandardOpenOption.READ,
                    StandardOpenOption.WRITE)) {
                holder.work(file.map(FileChannel.MapMode.READ_WRITE, 0, FIELDS * 8)
                        .order(ByteOrder.nativeOrder()).asLongBuffer(), words[2]);
            }
        }
        System.exit(0);
    }
}
