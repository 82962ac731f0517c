import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** Flink CEP: one task, time told by the events, state in memory without checkpoints, objects reused. */
public final class FlinkPeer {
    static final AtomicLong FOUND = new AtomicLong();

    public static final class Reading {
        public long id;
        public int device;
        public long t;
        public int kind;
        public double level;
        public int code;

        static Reading of(long number) {
            int i = (int) number;
            Reading one = new Reading();
            one.id = number;
            one.device = Readings.device[i];
            one.t = Readings.t[i];
            one.kind = Readings.kind[i];
            one.level = Readings.level[i];
            one.code = Readings.code[i];
            return one;
        }
    }

    /** Counts matches; the sum over repeated events is what the pattern asks for. */
    public static final class Counted extends PatternProcessFunction<Reading, Double> {
        @Override
        public void processMatch(Map<String, List<Reading>> match, Context context, Collector<Double> out) {
            FOUND.incrementAndGet();
            double total = 0;
            for (Reading one : match.getOrDefault("b", List.of())) {
                total += one.level;
            }
            out.collect(total);
        }
    }

    static Pattern<Reading, Reading> begin(SimpleCondition<Reading> first) {
        return Pattern.<Reading>begin("a", AfterMatchSkipStrategy.noSkip()).where(first);
    }

    static Pattern<Reading, Reading> sequence(SimpleCondition<Reading> first, SimpleCondition<Reading> second) {
        return begin(first).followedBy("b").where(second)
            .followedBy("c").where(SimpleCondition.of(one -> one.kind == 2)).within(Duration.ofMillis(60_001));
    }

    static void add(KeyedStream<Reading, Integer> readings, Pattern<Reading, Reading> pattern) {
        CEP.pattern(readings, pattern).process(new Counted()).sinkTo(new DiscardingSink<>());
    }

    static Readings.Prepared prepared(String workload, int events) {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.getConfig().enableObjectReuse();
        KeyedStream<Reading, Integer> readings = environment.fromSequence(0, events - 1).map(Reading::of)
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Reading>forMonotonousTimestamps().withTimestampAssigner((one, before) -> one.t))
            .keyBy(one -> one.device);
        if (workload.startsWith("sequence")) {
            add(readings, sequence(SimpleCondition.of(one -> one.kind == 0 && one.level > 0.5),
                SimpleCondition.of(one -> one.kind == 1 && one.code >= 500)));
        } else if (workload.equals("absence")) {
            add(readings, begin(SimpleCondition.of(one -> one.kind == 0))
                .notFollowedBy("n").where(SimpleCondition.of(one -> one.kind == 1)).within(Duration.ofMillis(10_001)));
        } else if (workload.equals("repetition")) {
            add(readings, begin(SimpleCondition.of(one -> one.kind == 0))
                .next("b").where(SimpleCondition.of(one -> one.kind >= 2)).oneOrMore().consecutive()
                .next("c").where(SimpleCondition.of(one -> one.kind == 1)));
        } else {
            for (int number = 0; number < Integer.parseInt(workload.split("-")[1]); number++) {
                int i = number;
                add(readings, sequence(
                    SimpleCondition.of(one -> one.kind == 0 && one.code >= 10 * i && one.code < 10 * i + 10),
                    SimpleCondition.of(one -> one.kind == 1 && one.level > i / 200.0)));
            }
        }
        return () -> {
            FOUND.set(0);
            environment.execute();
            return FOUND.get();
        };
    }

    public static void main(String[] args) throws Exception {
        Readings.measure(args, FlinkPeer::prepared);
        System.exit(0);
    }
}
