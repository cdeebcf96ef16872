// SPDX-License-Identifier: MIT
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.apache.orc.OrcProto;
import org.apache.orc.util.BloomFilter;
import org.apache.orc.util.BloomFilterIO;
import org.apache.orc.util.BloomFilterUtf8;

/** Apache ORC. The variant is the format's parameters, such as "column=number,stream=utf8". */
final class Orc extends Peer {
    Orc() {
        super(new Random());
    }

    private static long little(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /** In a column of numbers, keys of 8 bytes are longs. */
    private static Filter wrap(BloomFilter f, boolean hasNumbers) {
        return new Filter() {
            public void add(byte[] key) {
                if (hasNumbers && key.length == 8) f.addLong(little(key));
                else f.add(key);
            }

            public boolean has(byte[] key) {
                return hasNumbers && key.length == 8 ? f.testLong(little(key)) : f.test(key);
            }

            public byte[] bytes() {
                OrcProto.BloomFilter.Builder builder = OrcProto.BloomFilter.newBuilder();
                BloomFilterIO.serialize(builder, f);
                return builder.build().toByteArray();
            }
        };
    }

    /** "column=number,stream=utf8 100 0.03". */
    Filter make(String text) {
        String[] how = text.split(" ");
        long capacity = Long.parseLong(how[1]);
        double rate = Double.parseDouble(how[2]);
        return wrap(how[0].endsWith("utf8") ? new BloomFilterUtf8(capacity, rate) : new BloomFilter(capacity, rate),
                how[0].startsWith("column=number"));
    }

    Filter read(String how, byte[] bytes) throws Exception {
        OrcProto.BloomFilter message = OrcProto.BloomFilter.parseFrom(bytes);
        int hashes = message.getNumHashFunctions();
        boolean hasNumbers = how.startsWith("column=number");
        if (message.hasUtf8Bitset()) {
            long[] words = new long[message.getUtf8Bitset().size() / 8];
            message.getUtf8Bitset().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
            return wrap(new BloomFilterUtf8(words, hashes), hasNumbers);
        }
        long[] words = new long[message.getBitsetCount()];
        for (int i = 0; i < words.length; i++) words[i] = message.getBitset(i);
        return wrap(new BloomFilter(words, hashes), hasNumbers);
    }

    byte[] key(String how) {
        if (dice.nextInt(4) == 0) return dice.nextBoolean() ? randomText() : randomBytes(0);
        if (how.startsWith("column=bytes")) return randomBytes(0);
        byte[] key = new byte[8];
        dice.nextBytes(key);
        return key;
    }

    void shape(Wish w, int keys) {
        int capacity = (int) (keys * (0.3 + dice.nextDouble()));
        String rate = dice.nextInt(4) == 0 ? any("0.000001", "0.000000001") : randomRate(0);
        w.format = "orc:" + variant;
        w.how = variant + " " + capacity + " " + rate;
        w.spec = "orc:capacity=" + capacity + ",fpr=" + rate + "," + variant.split(",")[0];
    }

    public static void main(String[] args) throws Exception {
        new Orc().run(args);
    }
}
