// The other side of datasketches.sh: Apache DataSketches, as lines that peer.c describes.
//
//     java datasketches.java write < WISHES > CASES   filters made by the library, with its answers
//     java datasketches.java read < CASES             are our bytes and answers those of the library?
//
// "how N P SEED WAY" says for what; WAY is "known" or "unknown": with queryAndUpdate, which counts
// bits, or with update, which does not.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.BufferedOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.datasketches.filters.bloomfilter.BloomFilter;
import org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder;
import org.apache.datasketches.memory.Memory;

class Peer {
    static final HexFormat hex = HexFormat.of();
    static String format, how, spec;
    static List<byte[]> added = new ArrayList<>(), asked = new ArrayList<>();
    static List<Boolean> answers = new ArrayList<>();
    static byte[] stored;

    static BloomFilter make() {
        String[] w = how.split(" ");
        BloomFilter f = BloomFilterBuilder.createByAccuracy(
            Long.parseLong(w[0]), Double.parseDouble(w[1]), Long.parseUnsignedLong(w[2]));
        for (byte[] key : added) {
            if (w[3].equals("known")) f.queryAndUpdate(key);
            else f.update(key);
            // Integers are their eight bytes: the same bits again.
            if (key.length == 8)
                f.queryAndUpdate(java.nio.ByteBuffer.wrap(key).order(java.nio.ByteOrder.LITTLE_ENDIAN).getLong());
        }
        return f;
    }

    static void write(PrintStream out) {
        BloomFilter f = make();
        out.println("case " + format + "\nhow " + how + "\nspec " + spec);
        for (byte[] key : added) out.println("add " + hex.formatHex(key));
        out.println("bytes " + hex.formatHex(f.toByteArray()));
        for (byte[] key : asked) out.println("ask " + (f.query(key) ? 1 : 0) + " " + hex.formatHex(key));
        out.println("end");
    }

    static String compare(BloomFilter f, String which) {
        for (int i = 0; i < asked.size(); i++)
            if (f.query(asked.get(i)) != answers.get(i)) return which + ": another answer";
        return Arrays.equals(f.toByteArray(), stored) ? null
            : which + ": other bytes, " + hex.formatHex(f.toByteArray()) + " and " + hex.formatHex(stored);
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
                if (what == null) what = compare(BloomFilter.heapify(Memory.wrap(stored)), "read");
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
