// The other side of orc.sh: Apache ORC, as lines that peer.c describes.
//
//     java orc.java write < WISHES > CASES   filters made by ORC, with its answers
//     java orc.java read < CASES             are our bytes and answers those of ORC?
//
// "how N P COLUMN STREAM" says for what. In a column of numbers, keys of 8 bytes are longs.
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.orc.OrcProto;
import org.apache.orc.util.BloomFilter;
import org.apache.orc.util.BloomFilterIO;
import org.apache.orc.util.BloomFilterUtf8;

class Peer {
    static final HexFormat hex = HexFormat.of();
    static String format, how, spec;
    static List<byte[]> added = new ArrayList<>(), asked = new ArrayList<>();
    static List<Boolean> answers = new ArrayList<>();
    static byte[] stored;

    static boolean isNumber(byte[] key) {
        return how.split(" ")[2].equals("number") && key.length == 8;
    }

    static long number(byte[] key) {
        return ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    static boolean has(BloomFilter f, byte[] key) {
        return isNumber(key) ? f.testLong(number(key)) : f.test(key);
    }

    static BloomFilter make() {
        String[] w = how.split(" ");
        long n = Long.parseLong(w[0]);
        double p = Double.parseDouble(w[1]);
        BloomFilter f = w[3].equals("utf8") ? new BloomFilterUtf8(n, p) : new BloomFilter(n, p);
        for (byte[] key : added) {
            if (isNumber(key)) f.addLong(number(key));
            else f.add(key);
        }
        return f;
    }

    static byte[] bytes(BloomFilter f) {
        OrcProto.BloomFilter.Builder builder = OrcProto.BloomFilter.newBuilder();
        BloomFilterIO.serialize(builder, f);
        return builder.build().toByteArray();
    }

    static BloomFilter take() throws Exception {
        OrcProto.BloomFilter message = OrcProto.BloomFilter.parseFrom(stored);
        if (message.hasUtf8Bitset()) {
            long[] words = new long[message.getUtf8Bitset().size() / 8];
            message.getUtf8Bitset().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
            return new BloomFilterUtf8(words, message.getNumHashFunctions());
        }
        long[] words = new long[message.getBitsetCount()];
        for (int i = 0; i < words.length; i++) words[i] = message.getBitset(i);
        return new BloomFilter(words, message.getNumHashFunctions());
    }

    static void write(PrintStream out) {
        BloomFilter f = make();
        out.println("case " + format + "\nhow " + how + "\nspec " + spec);
        for (byte[] key : added) out.println("add " + hex.formatHex(key));
        out.println("bytes " + hex.formatHex(bytes(f)));
        for (byte[] key : asked) out.println("ask " + (has(f, key) ? 1 : 0) + " " + hex.formatHex(key));
        out.println("end");
    }

    static String compare(BloomFilter f, String which) {
        for (int i = 0; i < asked.size(); i++)
            if (has(f, asked.get(i)) != answers.get(i)) return which + ": another answer";
        return Arrays.equals(bytes(f), stored) ? null
            : which + ": other bytes, " + hex.formatHex(bytes(f)) + " and " + hex.formatHex(stored);
    }

    public static void main(String[] words) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16));
        long filters = 0, questions = 0;
        for (String line; (line = in.readLine()) != null;) {
            if (line.startsWith("case ")) format = line.substring(5);
            if (line.startsWith("how ")) how = line.substring(4);
            if (line.startsWith("spec ")) spec = line.substring(5);
            if (line.startsWith("add ")) added.add(hex.parseHex(line.substring(4)));
            if (line.startsWith("bytes ")) stored = hex.parseHex(line.substring(6));
            if (line.startsWith("ask ")) {
                answers.add(line.charAt(4) == '1');
                asked.add(hex.parseHex(line.substring(6)));
            }
            if (!line.equals("end")) continue;
            filters++;
            questions += 2 * asked.size();
            if (words[0].equals("write")) {
                write(out);
            } else {
                String what = compare(make(), "made anew");
                if (what == null) what = compare(take(), "read");
                if (what != null) {
                    System.out.println("filter " + filters + ", " + how + ": " + what);
                    System.exit(1);
                }
            }
            added.clear();
            asked.clear();
            answers.clear();
        }
        if (words[0].equals("read")) out.println(filters + " filters, " + questions + " answers");
        out.flush();
    }
}
