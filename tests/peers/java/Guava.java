// SPDX-License-Identifier: MIT
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.function.Function;

/** Guava's BloomFilter with five funnels. The variant "old" is for versions before 33.4. */
final class Guava extends Peer {
    Guava() {
        super(new Random());
    }

    private static ByteBuffer little(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
    }

    private <T> Filter wrap(BloomFilter<T> f, Function<byte[], T> decode) {
        return new Filter() {
            public void add(byte[] key) {
                f.put(decode.apply(key));
            }

            public boolean has(byte[] key) {
                return f.mightContain(decode.apply(key));
            }

            public byte[] bytes() throws Exception {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                f.writeTo(out);
                return out.toByteArray();
            }
        };
    }

    @SuppressWarnings("unchecked") // of old, readFrom wants a funnel of exactly this type
    private <T> Filter open(Funnel<? super T> any, Function<byte[], T> decode, String[] how, byte[] bytes)
            throws Exception {
        Funnel<T> funnel = (Funnel<T>) any;
        if (bytes != null) return wrap(BloomFilter.<T>readFrom(new ByteArrayInputStream(bytes), funnel), decode);
        return wrap(BloomFilter.<T>create(funnel, Long.parseLong(how[1]), Double.parseDouble(how[2])), decode);
    }

    private Filter open(String text, byte[] bytes) throws Exception {
        String[] how = text.split(" ");
        switch (how[0]) {
            case "bytes": return open(Funnels.byteArrayFunnel(), k -> k, how, bytes);
            case "utf8":
                return open(Funnels.stringFunnel(StandardCharsets.UTF_8),
                        k -> (CharSequence) new String(k, StandardCharsets.UTF_8), how, bytes);
            case "utf16":
                return open(Funnels.unencodedCharsFunnel(),
                        k -> (CharSequence) new String(k, StandardCharsets.UTF_16LE), how, bytes);
            case "int32": return open(Funnels.integerFunnel(), k -> little(k).getInt(), how, bytes);
            default: return open(Funnels.longFunnel(), k -> little(k).getLong(), how, bytes);
        }
    }

    Filter make(String how) throws Exception {
        return open(how, null);
    }

    Filter read(String how, byte[] bytes) throws Exception {
        return open(how, bytes);
    }

    byte[] key(String how) {
        byte[] key;
        switch (how.split(" ")[0]) {
            case "bytes": return randomBytes(0);
            case "utf8": return randomText();
            case "utf16": return new String(randomText(), StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_16LE);
            case "int32": key = new byte[4]; break;
            default: key = new byte[8];
        }
        dice.nextBytes(key);
        return key;
    }

    /** How many hashes an old version takes is what it writes. */
    void shape(Wish w, int keys) throws Exception {
        String rate = randomRate(0), funnel = any("bytes", "utf8", "utf16", "int32", "int64");
        int capacity = Math.max(1, (int) (keys * (0.3 + dice.nextDouble())));
        /* Below one bit there is no filter. */
        while (-capacity * Math.log(Double.parseDouble(rate)) / 0.48 < 1.1) rate = randomRate(0);
        w.format = "guava";
        w.how = funnel + " " + capacity + " " + rate;
        w.spec = "guava:capacity=" + capacity + ",fpr=" + rate;
        if (variant.equals("old")) w.spec += ",hashes=" + (make(w.how).bytes()[1] & 255);
    }

    public static void main(String[] args) throws Exception {
        new Guava().run(args);
    }
}
