import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Esper: events as arrays, time told by the events, no threads of its own. */
final class EsperPeer {
    static long found;

    // a timer fires before the event of the same millisecond arrives, so that limits are a millisecond longer
    static final String SEQUENCE = "select a.id, b.id, c.id from pattern [every a=R(%s) ->"
        + " ((b=R(device=a.device and %s) -> c=R(device=a.device and kind=2)) where timer:within(60001 msec))]";
    static final String ABSENCE = "select a.id from pattern [every a=R(kind=0) ->"
        + " (timer:interval(10001 msec) and not R(device=a.device and kind=1))]";
    static final String REPETITION = "select * from R match_recognize (partition by device"
        + " measures A.id as a_id, C.id as c_id, sum(B.level) as total pattern (A B+ C)"
        + " define A as A.kind = 0, B as B.kind >= 2, C as C.kind = 1)";

    static List<String> statements(String workload) {
        List<String> texts = new ArrayList<>();
        if (workload.startsWith("sequence")) {
            texts.add(String.format(SEQUENCE, "kind=0 and level>0.5", "kind=1 and code>=500"));
        } else if (workload.equals("absence")) {
            texts.add(ABSENCE);
        } else if (workload.equals("repetition")) {
            texts.add(REPETITION);
        } else {
            for (int i = 0; i < Integer.parseInt(workload.split("-")[1]); i++) {
                String first = "kind=0 and code>=" + 10 * i + " and code<" + (10 * i + 10);
                texts.add(String.format(SEQUENCE, first, "kind=1 and level>" + i / 200.0));
            }
        }
        return texts;
    }

    static EPRuntime runtime(String workload) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType("R", new String[] {"id", "device", "kind", "level", "code"},
            new Object[] {long.class, int.class, int.class, double.class, int.class});
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPRuntime runtime = EPRuntimeProvider.getRuntime("peer", configuration);
        runtime.initialize();
        runtime.getEventService().advanceTime(0);
        for (String text : statements(workload)) {
            EPCompiled compiled = EPCompilerProvider.getCompiler().compile(text, new CompilerArguments(configuration));
            for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
                statement.addListener((added, removed, one, from) -> found += added.length);
            }
        }
        return runtime;
    }

    static Object[] event(int i) {
        return new Object[] {(long) i, Readings.device[i], Readings.kind[i], Readings.level[i], Readings.code[i]};
    }

    static Readings.Prepared prepared(String workload, int events) throws Exception {
        EPRuntime runtime = runtime(workload);
        return () -> matches(runtime, events);
    }

    static long matches(EPRuntime runtime, int events) {
        found = 0;
        EPEventService service = runtime.getEventService();
        for (int i = 0; i < events; i++) {
            service.advanceTime(Readings.t[i]);
            service.sendEventObjectArray(event(i), "R");
        }
        service.advanceTime(Readings.t[events - 1] + 100_000);
        runtime.destroy();
        return found;
    }

    /** The time of each event by itself, after as many to warm up. */
    static void latency(int events) throws Exception {
        EPEventService service = runtime("sequence").getEventService();
        long[] times = new long[events];
        for (int i = 0; i < 2 * events; i++) {
            Object[] event = event(i);
            long started = System.nanoTime();
            service.advanceTime(Readings.t[i]);
            service.sendEventObjectArray(event, "R");
            times[i % events] = System.nanoTime() - started;
        }
        Arrays.sort(times);
        Readings.say("latency", "\"p50_us\": " + times[events / 2] / 1e3 + ", \"p99_us\": " + times[events * 99 / 100] / 1e3);
    }

    public static void main(String[] args) throws Exception {
        Readings.measure(args, EsperPeer::prepared);
        latency(Math.min(50_000, Readings.t.length / 2));
        System.exit(0);
    }
}
