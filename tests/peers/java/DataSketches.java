// SPDX-License-Identifier: MIT
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.apache.datasketches.filters.bloomfilter.BloomFilter;
import org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder;
import org.apache.datasketches.memory.Memory;

/**
 * Apache DataSketches. The variant "count=known" adds with queryAndUpdate, which counts bits, and
 * "count=unknown" with update, which does not.
 */
final class DataSketches extends Peer {
    DataSketches() {
        super(new Random());
    }

    private static Filter wrap(BloomFilter f, boolean counts) {
        return new Filter() {
            public void add(byte[] key) {
                if (counts) f.queryAndUpdate(key);
                else f.update(key);
                /* Integers are their eight bytes: the same bits again. */
                if (key.length == 8) f.queryAndUpdate(ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong());
            }

            public boolean has(byte[] key) {
                return f.query(key);
            }

            public byte[] bytes() {
                return f.toByteArray();
            }
        };
    }

    /** "count=known 100 0.03 9001". */
    Filter make(String text) {
        String[] how = text.split(" ");
        return wrap(BloomFilterBuilder.createByAccuracy(
                Long.parseLong(how[1]), Double.parseDouble(how[2]), Long.parseUnsignedLong(how[3])),
                how[0].equals("count=known"));
    }

    Filter read(String how, byte[] bytes) {
        return wrap(BloomFilter.heapify(Memory.wrap(bytes)), how.startsWith("count=known"));
    }

    byte[] key(String how) {
        if (dice.nextInt(4) != 0) return dice.nextInt(4) == 0 ? randomText() : randomBytes(0);
        byte[] key = new byte[8];
        dice.nextBytes(key);
        return key;
    }

    void shape(Wish w, int keys) {
        int capacity = Math.max(1, (int) (keys * (0.3 + dice.nextDouble())));
        String rate = dice.nextInt(4) == 0 ? any("0.000001", "0.000000001") : randomRate(0);
        String seed = any("0", "1", "9001", Long.toUnsignedString(dice.nextLong()));
        w.format = "datasketches:" + variant;
        w.how = variant + " " + capacity + " " + rate + " " + seed;
        w.spec = "datasketches:capacity=" + capacity + ",fpr=" + rate + ",seed=" + seed;
    }

    public static void main(String[] args) throws Exception {
        new DataSketches().run(args);
    }
}
