// SPDX-License-Identifier: MIT
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.util.Random;
import org.apache.hadoop.util.bloom.BloomFilter;
import org.apache.hadoop.util.bloom.CountingBloomFilter;
import org.apache.hadoop.util.bloom.DynamicBloomFilter;
import org.apache.hadoop.util.bloom.Key;

/** Hadoop's filters that take keys: the variant is the format, plain, counting or dynamic. */
final class Hadoop extends Peer {
    Hadoop() {
        super(new Random());
    }

    private static Filter wrap(org.apache.hadoop.util.bloom.Filter f) {
        return new Filter() {
            public void add(byte[] key) {
                f.add(new Key(key));
            }

            public boolean has(byte[] key) {
                return f.membershipTest(new Key(key));
            }

            public byte[] bytes() throws Exception {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                f.write(new DataOutputStream(out));
                return out.toByteArray();
            }
        };
    }

    /** "hadoop 101 4 1 0": the format, m, k, type of hash, and keys of a row. */
    private static org.apache.hadoop.util.bloom.Filter open(String text) {
        String[] how = text.split(" ");
        int m = Integer.parseInt(how[1]), k = Integer.parseInt(how[2]), hash = Integer.parseInt(how[3]);
        switch (how[0]) {
            case "hadoop": return new BloomFilter(m, k, hash);
            case "hadoop-counting": return new CountingBloomFilter(m, k, hash);
            default: return new DynamicBloomFilter(m, k, hash, Integer.parseInt(how[4]));
        }
    }

    Filter make(String how) {
        return wrap(open(how));
    }

    Filter read(String how, byte[] bytes) throws Exception {
        org.apache.hadoop.util.bloom.Filter f = open(how);
        f.readFields(new DataInputStream(new ByteArrayInputStream(bytes)));
        return wrap(f);
    }

    byte[] key(String how) {
        return randomBytes(1);
    }

    void shape(Wish w, int keys) {
        int hash = dice.nextInt(2), k = 1 + dice.nextInt(12), m = 1 + dice.nextInt(10 * keys + 20);
        /* At most some thirty rows: each new one makes us copy those before it. */
        int nr = 1 + keys / 30 + dice.nextInt(keys + 2);
        w.format = variant;
        w.how = variant + " " + m + " " + k + " " + hash + " " + nr;
        int bits = variant.equals("hadoop-counting") ? 4 * m : m;
        w.spec = variant + ":capacity=" + Math.max(keys, 1) + ",bits=" + bits + ",hashes=" + k + ",hash="
                + (hash == 0 ? "jenkins" : "murmur");
        if (variant.equals("hadoop-dynamic")) w.spec += ",nr=" + nr;
    }

    public static void main(String[] args) throws Exception {
        new Hadoop().run(args);
    }
}
