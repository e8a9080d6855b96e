import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
 * before each step. CuratorHolder HISTORY HOSTS SESSION_MS PATH - QUESTION_MS mutex: as test/lib/worker.c. It knows one
 * order, "lock", and writes the history of test/lib/history.h.
 */
public final class CuratorHolder {
    private static final int ASKED = 1, GRANTED = 2, QUESTION = 4, TOLD = 5, UNLOCKING = 6;
    private static final int HELD = 1, LOST = 3, REQUEST = 1;
    private static final int PID = 16, COUNT = 20, FINISH = 24, RECORDS = 120, RECORD_BYTES = 104;

    private final CuratorFramework client;
    private final AtomicBoolean suspended = new AtomicBoolean();
    private final ByteBuffer history;

    private CuratorHolder(ByteBuffer history, String hosts, int sessionMs) {
        this.history = history;
        client = CuratorFrameworkFactory.newClient(hosts, sessionMs, sessionMs, new RetryOneTime(100));
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                suspended.set(true);
            }
        });
        client.start();
    }

    private void write(int event, int rc, long ns, long validMs) {
        int n = history.getInt(COUNT), at = RECORDS + n * RECORD_BYTES;
        history.putInt(COUNT, n + 1);
        history.putLong(at, ns);
        history.putInt(at + 12, rc);
        history.putLong(at + 16, event == ASKED ? -1 : 1); // no token: only its place
        history.putLong(at + 32, validMs);
        history.putInt(at + 40, REQUEST);
        history.putInt(at + 44, history.getInt(PID));
        history.putInt(at + 8, event);
    }

    private boolean mayWork(InterProcessMutex mutex) {
        long asked = System.nanoTime(); // CLOCK_MONOTONIC
        boolean held = mutex.isAcquiredInThisProcess() && !suspended.get();
        write(QUESTION, held ? HELD : LOST, asked, 0);
        return held;
    }

    private void work(String path, int everyMs) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        client.blockUntilConnected();
        history.putInt(PID, (int) ProcessHandle.current().pid());
        suspended.set(false);
        write(ASKED, 0, System.nanoTime(), 0);
        mutex.acquire();
        write(GRANTED, 0, System.nanoTime(), 1);
        boolean held;
        while ((held = mayWork(mutex)) && history.getInt(FINISH) == 0) {
            Thread.sleep(everyMs);
        }
        write(held ? UNLOCKING : TOLD, held ? 0 : LOST, System.nanoTime(), 0);
        try {
            mutex.release();
        } catch (Exception e) {
            // its node went with the session
        }
    }

    public static void main(String[] args) throws Exception {
        try (FileChannel file = FileChannel.open(Paths.get(args[0]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer history = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size()).order(ByteOrder.nativeOrder());
            CuratorHolder holder = new CuratorHolder(history, args[1], Integer.parseInt(args[2]));
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("lock")) {
                    holder.work(args[3], Integer.parseInt(args[5]));
                }
            }
            holder.client.close();
        }
        System.exit(0);
    }
}
