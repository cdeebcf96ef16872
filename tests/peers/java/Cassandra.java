// SPDX-License-Identifier: MIT
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.utils.BloomFilter;
import org.apache.cassandra.utils.BloomFilterSerializer;
import org.apache.cassandra.utils.FilterFactory;
import org.apache.cassandra.utils.IFilter;
import org.apache.cassandra.utils.MurmurHash;

/** Cassandra 4.x: writes version nb. The variant "me" has it read what 3.x wrote. */
final class Cassandra extends Peer {
    Cassandra() {
        super(new Random());
    }

    /** As a partition key hashes itself. */
    private static IFilter.FilterKey key(byte[] key) {
        return dest -> MurmurHash.hash3_x64_128(ByteBuffer.wrap(key), 0, key.length, 0, dest);
    }

    private static byte[] swapped(byte[] bytes) {
        byte[] out = bytes.clone();
        for (int i = 8; i < out.length; i++) out[i] = bytes[8 + ((i - 8) ^ 7)];
        return out;
    }

    private static Filter wrap(BloomFilter f, boolean isOld) {
        return new Filter() {
            public void add(byte[] key) {
                f.add(Cassandra.key(key));
            }

            public boolean has(byte[] key) {
                return f.isPresent(Cassandra.key(key));
            }

            /** It no longer writes the old form: the eight bytes of a word the other way round. */
            public byte[] bytes() throws Exception {
                try (DataOutputBuffer out = new DataOutputBuffer()) {
                    BloomFilterSerializer.serialize(f, out);
                    return isOld ? swapped(out.toByteArray()) : out.toByteArray();
                }
            }
        };
    }

    Filter make(String text) {
        String[] how = text.split(" ");
        return wrap((BloomFilter) FilterFactory.getFilter(Long.parseLong(how[1]), Double.parseDouble(how[2])),
                how[0].equals("me"));
    }

    Filter read(String text, byte[] bytes) throws Exception {
        boolean isOld = text.startsWith("me");
        return wrap(BloomFilterSerializer.deserialize(new DataInputStream(new ByteArrayInputStream(bytes)), isOld), isOld);
    }

    void shape(Wish w, int keys) {
        String version = variant.isEmpty() ? "nb" : variant, rate = randomRate(0.0001);
        int capacity = Math.max(1, (int) (keys * (0.3 + dice.nextDouble())));
        w.format = "cassandra:version=" + version;
        w.how = version + " " + capacity + " " + rate;
        w.spec = "cassandra:capacity=" + capacity + ",fpr=" + rate + ",version=" + version;
    }

    public static void main(String[] args) throws Exception {
        new Cassandra().run(args);
        System.exit(0);
    }
}
