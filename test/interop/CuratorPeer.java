import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryOneTime;

/**
 * Curator's side of the interoperability tests: CuratorPeer HOSTS PATH SESSION_MS.
 *
 * Reads lines "ID COMMAND [ARGUMENT...]", answers "ID WORD [...]", each once it is done; "ready" first. Each ID is a
 * contender with a client, a session, a thread, and one lock of each recipe, made when it is first named. Ends with
 * its input. "RECIPE/N try PATH MS", "free" and "meet PATH ROUNDS FILE" are of the matrix: paddock_peer.c has them.
 */
public final class CuratorPeer {
    private static final String LOCKED = "locked";
    private static final String UNLOCKED = "unlocked";

    private final CuratorFramework client;
    private final InterProcessMutex mutex;
    private final InterProcessReadWriteLock shared;
    private final String path;
    private final InterProcessSemaphoreMutex alone;
    private InterProcessSemaphoreV2 semaphore;
    private SharedCount number;
    private Collection<Lease> leases;
    private DistributedDoubleBarrier member;
    private LeaderLatch latch;
    private LeaderSelector selector;
    private AutoCloseable held;
    private final Semaphore turn = new Semaphore(0);
    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    private CuratorPeer(String hosts, String path, int sessionMs) throws Exception {
        client = CuratorFrameworkFactory.newClient(hosts, sessionMs, 15000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        mutex = new InterProcessMutex(client, path);
        shared = new InterProcessReadWriteLock(client, path);
        alone = new InterProcessSemaphoreMutex(client, path);
        this.path = path;
    }

    private String nodes() throws Exception {
        StringBuilder all = new StringBuilder("nodes");
        for (String node : mutex.getParticipantNodes()) {
            all.append(' ').append(node.substring(node.lastIndexOf('/') + 1));
        }
        return all.toString();
    }

    /** How many bytes each participant's node carries, in order; -1 for NULL. */
    private String sizes() throws Exception {
        StringBuilder all = new StringBuilder("sizes");
        for (String node : mutex.getParticipantNodes()) {
            byte[] data = client.getData().forPath(node);
            all.append(' ').append(data == null ? -1 : data.length);
        }
        return all.toString();
    }

    private String stand(String id) throws Exception {
        latch = new LeaderLatch(client, path, id);
        latch.start();
        return "stands";
    }

    /** It says so when a turn of its begins, and stays until it is told to yield; then it queues again. */
    private String select(String id, String name) {
        selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework unused) throws Exception {
                say(id + " turn");
                turn.acquire();
            }
        });
        selector.setId(name);
        selector.autoRequeue();
        selector.start();
        return "selects";
    }

    private String resign() throws Exception {
        latch.close();
        return "resigned";
    }

    /** The ids in order, with a star after the leader's. */
    private String participants() throws Exception {
        StringBuilder all = new StringBuilder("participants");
        for (Participant participant : latch.getParticipants()) {
            all.append(' ').append(participant.getId()).append(participant.isLeader() ? "*" : "");
        }
        return all.toString();
    }

    /** The holder creates the witness, so a second holder finds it; and adds its letter to the log. */
    private String contend(int rounds, Path witness, Path log) throws Exception {
        for (int i = 0; i < rounds; i++) {
            mutex.acquire();
            Files.createFile(witness);
            Files.write(log, new byte[] {'c'}, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            Thread.sleep(1);
            Files.delete(witness);
            mutex.release();
        }
        return "done";
    }

    /** Its lock can be asked for from now on: it says so when it is. */
    private String revocable(String id) {
        mutex.makeRevocable(asked -> say(id + " asked"));
        return "revocable";
    }

    /** Asks the first participant. */
    private String revoke() throws Exception {
        Revoker.attemptRevoke(client, mutex.getParticipantNodes().iterator().next());
        return "revoked";
    }

    /** The number that a semaphore's clients follow. */
    private String setCount(int limit) throws Exception {
        if (number == null) {
            number = new SharedCount(client, path + "-count", 1);
            number.start();
        }
        number.setCount(limit);
        return "counts";
    }

    /** COUNT permits, of as many as the shared number says, within MS. */
    private String acquireShared(int count, long ms) throws Exception {
        semaphore = new InterProcessSemaphoreV2(client, path, number);
        leases = semaphore.acquire(count, ms, TimeUnit.MILLISECONDS);
        return leases != null ? "acquired" : "busy";
    }

    /** COUNT permits of LIMIT, within MS. */
    private String acquire(int count, int limit, long ms) throws Exception {
        semaphore = new InterProcessSemaphoreV2(client, path, limit);
        leases = semaphore.acquire(count, ms, TimeUnit.MILLISECONDS);
        return leases != null ? "acquired" : "busy";
    }

    private String giveBack() {
        semaphore.returnAll(leases);
        return "returned";
    }

    /** Waits so long for the barrier's removal. */
    private String pass(long ms) throws Exception {
        return new DistributedBarrier(client, path).waitOnBarrier(ms, TimeUnit.MILLISECONDS) ? "passed" : "stopped";
    }

    private String set(boolean on) throws Exception {
        DistributedBarrier barrier = new DistributedBarrier(client, path);
        if (on) {
            barrier.setBarrier();
        } else {
            barrier.removeBarrier();
        }
        return on ? "set" : "removed";
    }

    /** The thread on which Curator wakes its waiters is busy while the connection is lost and made again. */
    private void keepBusy() {
        client.runSafe(() -> {
            try {
                while (client.getZookeeperClient().isConnected()) {
                    Thread.sleep(1);
                }
                client.blockUntilConnected();
                Thread.sleep(100); // the waiter's own watcher is told beside this one
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** WORDS: the count of members, and maybe a limit in milliseconds, and "busy". */
    private String enter(String[] words) throws Exception {
        member = new DistributedDoubleBarrier(client, path, Integer.parseInt(words[2]));
        if (words[words.length - 1].equals("busy")) {
            keepBusy();
        }
        if (words.length < 4 || words[3].equals("busy")) {
            member.enter();
        } else if (!member.enter(Long.parseLong(words[3]), TimeUnit.MILLISECONDS)) {
            return "late";
        }
        return "inside";
    }

    private String exit() throws Exception {
        member.leave();
        return "outside";
    }

    private String answer(String[] words) throws Exception {
        String recipe = words[0].split("/")[0];
        switch (words[1]) {
            case "try":
                return attempt(recipe, words[2], Long.parseLong(words[3]));
            case "free":
                return free("freed");
            case "meet":
                return contend(recipe, words[2], Integer.parseInt(words[3]), Paths.get(words[4]));
            case "session":
                return "session " + Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId());
            case "lock":
                mutex.acquire();
                return LOCKED;
            case "trylock":
                return mutex.acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? LOCKED : "busy";
            case "unlock":
                mutex.release();
                return UNLOCKED;
            case "rdlock":
                shared.readLock().acquire();
                return LOCKED;
            case "wrlock":
                shared.writeLock().acquire();
                return LOCKED;
            case "rdunlock":
                shared.readLock().release();
                return UNLOCKED;
            case "wrunlock":
                shared.writeLock().release();
                return UNLOCKED;
            case "acquire":
                return acquire(Integer.parseInt(words[2]), Integer.parseInt(words[3]), Long.parseLong(words[4]));
            case "count":
                return setCount(Integer.parseInt(words[2]));
            case "acquireshared":
                return acquireShared(Integer.parseInt(words[2]), Long.parseLong(words[3]));
            case "return":
                return giveBack();
            case "lockalone":
                alone.acquire();
                return LOCKED;
            case "unlockalone":
                alone.release();
                return UNLOCKED;
            case "pass":
                return pass(Long.parseLong(words[2]));
            case "set":
                return set(true);
            case "remove":
                return set(false);
            case "enter":
                return enter(words);
            case "exit":
                return exit();
            case "select":
                return select(words[0], words[2]);
            case "yield":
                turn.release();
                return "yields";
            case "leave":
                selector.close();
                return "left";
            case "nodes":
                return nodes();
            case "sizes":
                return sizes();
            case "revocable":
                return revocable(words[0]);
            case "revoke":
                return revoke();
            case "stand":
                return stand(words[2]);
            case "await":
                latch.await();
                return "leads";
            case "leads":
                return latch.hasLeadership() ? "yes" : "no";
            case "leader":
                return "leader " + latch.getLeader().getId();
            case "participants":
                return participants();
            case "resign":
                return resign();
            case "contend":
                return contend(Integer.parseInt(words[2]), Paths.get(words[3]), Paths.get(words[4]));
            default:
                throw new IllegalArgumentException(words[1]);
        }
    }

    // --- the matrix

    private String attempt(InterProcessLock lock, long ms) throws Exception {
        boolean acquired = lock.acquire(ms, TimeUnit.MILLISECONDS);
        held = acquired ? lock::release : null;
        return acquired ? "held" : "busy";
    }

    private String attemptPermit(String at, long ms) throws Exception {
        InterProcessSemaphoreV2 one = new InterProcessSemaphoreV2(client, at, 1);
        Lease lease = one.acquire(ms, TimeUnit.MILLISECONDS);
        held = lease != null ? () -> one.returnLease(lease) : null;
        return lease != null ? "held" : "busy";
    }

    private String attemptLatch(String at, long ms) throws Exception {
        LeaderLatch one = new LeaderLatch(client, at);
        one.start();
        boolean leads = one.await(ms, TimeUnit.MILLISECONDS);
        held = one;
        return leads ? "held" : free("busy");
    }

    private String attemptTurn(String at, long ms) throws Exception {
        Semaphore begun = new Semaphore(0);
        Semaphore end = new Semaphore(0);
        LeaderSelector one = new LeaderSelector(client, at, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework unused) throws Exception {
                begun.release();
                end.acquire();
            }
        });
        one.start();
        boolean leads = begun.tryAcquire(ms, TimeUnit.MILLISECONDS);
        held = () -> {
            end.release();
            one.close();
        };
        return leads ? "held" : free("busy");
    }

    private String attempt(String recipe, String at, long ms) throws Exception {
        switch (recipe) {
            case "mutex":
                return attempt(new InterProcessMutex(client, at), ms);
            case "multi":
                return attempt(new InterProcessMultiLock(client, Arrays.asList(at, at + "-other")), ms);
            case "alone":
                return attempt(new InterProcessSemaphoreMutex(client, at), ms);
            case "reader":
                return attempt(new InterProcessReadWriteLock(client, at).readLock(), ms);
            case "writer":
                return attempt(new InterProcessReadWriteLock(client, at).writeLock(), ms);
            case "semaphore":
                return attemptPermit(at, ms);
            case "latch":
                return attemptLatch(at, ms);
            case "selector":
                return attemptTurn(at, ms);
            default:
                throw new IllegalArgumentException(recipe);
        }
    }

    private String free(String word) throws Exception {
        if (held != null) {
            held.close();
        }
        held = null;
        return word;
    }

    /** Whether another holder has created the file, which a holder deletes before it releases. */
    private static boolean meet(Path file) throws Exception {
        boolean met = !file.toFile().createNewFile();
        Thread.sleep(2);
        if (!met) {
            Files.delete(file);
        }
        return met;
    }

    private String contend(String recipe, String at, int rounds, Path file) throws Exception {
        int met = 0;
        for (int i = 0; i < rounds; i++) {
            if (!attempt(recipe, at, 60000).equals("held")) {
                return "error busy";
            }
            met += meet(file) ? 1 : 0;
            free("");
        }
        return "done " + met;
    }

    private void take(String[] words) {
        thread.execute(() -> {
            try {
                say(words[0] + " " + answer(words));
            } catch (FileAlreadyExistsException e) {
                say(words[0] + " overlap");
            } catch (Exception e) {
                say(words[0] + " error " + e.toString().replace('\n', ' '));
            }
        });
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        Map<String, CuratorPeer> peers = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        peers.put("0", new CuratorPeer(args[0], args[1], Integer.parseInt(args[2])));
        say("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (!peers.containsKey(words[0])) {
                peers.put(words[0], new CuratorPeer(args[0], args[1], Integer.parseInt(args[2])));
            }
            peers.get(words[0]).take(words);
        }
        for (CuratorPeer peer : peers.values()) {
            peer.client.close();
        }
        System.exit(0);
    }
}
