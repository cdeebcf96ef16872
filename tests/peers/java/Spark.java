// SPDX-License-Identifier: MIT
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.spark.util.sketch.BloomFilter;

/** Spark's sketches. The variant "old" is for versions that know only version 1. */
final class Spark extends Peer {
    Spark() {
        super(new Random());
    }

    private static long little(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    private static Filter wrap(BloomFilter f, String keys) {
        return new Filter() {
            public void add(byte[] key) {
                if (keys.equals("utf8")) f.putString(new String(key, StandardCharsets.UTF_8));
                else if (keys.equals("int64")) f.putLong(little(key));
                else f.putBinary(key);
            }

            public boolean has(byte[] key) {
                if (keys.equals("utf8")) return f.mightContainString(new String(key, StandardCharsets.UTF_8));
                return keys.equals("int64") ? f.mightContainLong(little(key)) : f.mightContainBinary(key);
            }

            public byte[] bytes() throws Exception {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                f.writeTo(out);
                return out.toByteArray();
            }
        };
    }

    /** Versions before 4.1 have no method that takes a version. */
    private static BloomFilter create(String version, long capacity, long bits, int seed) throws Exception {
        for (Method m : BloomFilter.class.getMethods()) {
            if (!m.getName().equals("create") || m.getParameterCount() != 4) continue;
            for (Object v : m.getParameterTypes()[0].getEnumConstants())
                if (v.toString().equals("V" + version)) return (BloomFilter) m.invoke(null, v, capacity, bits, seed);
        }
        return BloomFilter.create(capacity, bits);
    }

    /** "utf8 1 100 rate 0.03 0" or "utf8 2 100 bits 640 -7". */
    Filter make(String text) throws Exception {
        String[] how = text.split(" ");
        long capacity = Long.parseLong(how[2]);
        long bits = how[3].equals("bits") ? Long.parseLong(how[4])
                : (long) (-capacity * Math.log(Double.parseDouble(how[4])) / (Math.log(2) * Math.log(2)));
        return wrap(create(how[1], capacity, bits, Integer.parseInt(how[5])), how[0]);
    }

    Filter read(String how, byte[] bytes) throws Exception {
        return wrap(BloomFilter.readFrom(new ByteArrayInputStream(bytes)), how.split(" ")[0]);
    }

    byte[] key(String how) {
        if (how.startsWith("utf8")) return randomText();
        if (how.startsWith("bytes")) return randomBytes(0);
        byte[] key = new byte[8];
        dice.nextBytes(key);
        return key;
    }

    void shape(Wish w, int keys) {
        String version = variant.equals("old") ? "1" : any("1", "2");
        int seed = version.equals("1") || dice.nextInt(3) == 0 ? 0 : dice.nextInt();
        int capacity = Math.max(1, (int) (keys * (0.3 + dice.nextDouble())));
        String rate = randomRate(0);
        while (-capacity * Math.log(Double.parseDouble(rate)) / 0.48 < 1.1) rate = randomRate(0);
        int bits = 64 * (1 + dice.nextInt(capacity + 2));
        boolean byRate = dice.nextBoolean();
        w.format = "spark";
        w.how = any("utf8", "bytes", "int64") + " " + version + " " + capacity + (byRate ? " rate " + rate : " bits " + bits) + " " + seed;
        w.spec = "spark:capacity=" + capacity + ",version=" + version + (byRate ? ",fpr=" + rate : ",bits=" + bits);
        if (seed != 0) w.spec += ",seed=" + (seed & 0xffffffffL);
    }

    public static void main(String[] args) throws Exception {
        new Spark().run(args);
    }
}
