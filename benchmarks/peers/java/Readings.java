import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/** Readings in memory, and what a run over them costs. */
final class Readings {
    static int[] device, kind, code;
    static long[] t;
    static double[] level;

    static void read(String path) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
            ByteBuffer bytes = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length());
            int n = bytes.getInt();
            device = ints(bytes, n);
            t = new long[n];
            bytes.asLongBuffer().get(t);
            bytes.position(bytes.position() + 8 * n);
            kind = ints(bytes, n);
            level = new double[n];
            bytes.asDoubleBuffer().get(level);
            bytes.position(bytes.position() + 8 * n);
            code = ints(bytes, n);
        }
    }

    private static int[] ints(ByteBuffer bytes, int n) {
        int[] found = new int[n];
        bytes.asIntBuffer().get(found);
        bytes.position(bytes.position() + 4 * n);
        return found;
    }

    interface Prepared {
        long matches() throws Exception;
    }

    interface Engine {
        Prepared prepared(String workload, int events) throws Exception;
    }

    /** Arguments: the file, then workload:events:repeats for each. One run warms up; the least of the others counts.
     *  What is compiled before a run is not measured. */
    static void measure(String[] args, Engine engine) throws Exception {
        read(args[0]);
        for (String arg : Arrays.asList(args).subList(1, args.length)) {
            String[] parts = arg.split(":");
            int events = Integer.parseInt(parts[1]);
            engine.prepared(parts[0], events).matches();
            long matches = 0;
            double wall = Double.MAX_VALUE, processor = Double.MAX_VALUE;
            for (int repeat = 0; repeat < Integer.parseInt(parts[2]); repeat++) {
                Prepared run = engine.prepared(parts[0], events);
                System.gc();
                long spent = spent(), started = System.nanoTime();
                matches = run.matches();
                wall = Math.min(wall, (System.nanoTime() - started) / 1e9);
                processor = Math.min(processor, (spent() - spent) / 1e9);
            }
            say(parts[0], "\"matches\": " + matches + ", \"seconds\": " + wall + ", \"cpu_seconds\": " + processor);
        }
    }

    static void say(String workload, String figures) {
        System.out.println("@row {\"workload\": \"" + workload + "\", " + figures + "}");
        System.out.flush();
    }

    /** Nanoseconds of all threads, those of the compiler and of the garbage collector included. */
    private static long spent() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
