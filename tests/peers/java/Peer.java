// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * The other side of jvm.sh: filters of a Java library, speaking the lines of peer.c.
 *
 * <pre>
 *     java NAME write N SEED [VARIANT]    N random filters with their answers
 *     java NAME wish N SEED [VARIANT]     the same without bytes, for us to make
 *     java NAME read                      reads what we made, and compares
 * </pre>
 */
abstract class Peer {
    /** A filter of the library. */
    interface Filter {
        void add(byte[] key);

        boolean has(byte[] key);

        byte[] bytes() throws Exception;
    }

    /** What one filter is to be. */
    static final class Wish {
        String format, how, spec;
        byte[] bytes;
        final List<byte[]> keys = new ArrayList<>(), asked = new ArrayList<>();
        final List<Boolean> answers = new ArrayList<>();
    }

    String variant = "";
    final Random dice;

    Peer(Random dice) {
        this.dice = dice;
    }

    /** Sets format, how and spec for about so many keys. */
    abstract void shape(Wish wish, int keys) throws Exception;

    /** A new filter as `how` says it. */
    abstract Filter make(String how) throws Exception;

    abstract Filter read(String how, byte[] bytes) throws Exception;

    /** A random key that `how` allows. */
    byte[] key(String how) {
        return randomBytes(0);
    }

    // ---- Chance ----

    String any(String... choices) {
        return choices[dice.nextInt(choices.length)];
    }

    /** Any bytes, of any length; often short, where hashes treat the rest apart. */
    byte[] randomBytes(int least) {
        byte[] key = new byte[least + dice.nextInt(dice.nextInt(4) == 0 ? 200 : 24)];
        dice.nextBytes(key);
        return key;
    }

    /** UTF-8 with characters of one to four bytes. */
    byte[] randomText() {
        StringBuilder text = new StringBuilder();
        for (int n = dice.nextInt(12); n > 0; n--) {
            int[] most = {0x80, 0x80, 0x800, 0xd800, 0x110000};
            int c = dice.nextInt(most[dice.nextInt(most.length)]);
            text.appendCodePoint(c >= 0xd800 && c < 0xe000 ? 'x' : c);
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** A rate with a few digits, so that both sides read the same number. */
    String randomRate(double least) {
        while (true) {
            String rate = String.format("%.6f", Math.pow(10, -4 * dice.nextDouble()) * 0.6);
            if (Double.parseDouble(rate) > least) return rate;
        }
    }

    private int randomCount() {
        int[] most = {0, 1, 2, 10, 10, 100, 100, 300};
        return dice.nextInt(50) == 0 ? 5000 : dice.nextInt(most[dice.nextInt(most.length)] + 1);
    }

    private Wish randomWish() throws Exception {
        Wish w = new Wish();
        int keys = randomCount();
        shape(w, keys);
        for (int i = 0; i < keys; i++) w.keys.add(key(w.how));
        for (int i = 0; i < Math.min(keys, 100); i++) w.asked.add(w.keys.get(i));
        for (int i = 0; i < 100; i++) w.asked.add(key(w.how));
        return w;
    }

    // ---- Lines ----

    private static final HexFormat HEX = HexFormat.of();

    private void print(PrintStream out, Wish w, Filter f) throws Exception {
        StringBuilder s = new StringBuilder();
        s.append("case ").append(w.format).append("\nhow ").append(w.how).append("\nspec ").append(w.spec);
        for (byte[] key : w.keys) s.append("\nadd ").append(HEX.formatHex(key));
        if (f != null) s.append("\nbytes ").append(HEX.formatHex(f.bytes()));
        for (byte[] key : w.asked)
            s.append("\nask ").append(f != null && f.has(key) ? "1 " : "0 ").append(HEX.formatHex(key));
        out.print(s.append("\nend\n"));
    }

    private Wish readWish(BufferedReader in) throws Exception {
        Wish w = new Wish();
        for (String line; (line = in.readLine()) != null; ) {
            int space = line.indexOf(' ');
            String word = space < 0 ? line : line.substring(0, space);
            String rest = space < 0 ? "" : line.substring(space + 1);
            switch (word) {
                case "case": w.format = rest; break;
                case "how": w.how = rest; break;
                case "spec": w.spec = rest; break;
                case "add": w.keys.add(HEX.parseHex(rest)); break;
                case "bytes": w.bytes = HEX.parseHex(rest); break;
                case "ask":
                    w.answers.add(rest.charAt(0) == '1');
                    w.asked.add(HEX.parseHex(rest.substring(2)));
                    break;
                case "end": return w;
                default: throw new IllegalStateException("no such line: " + line);
            }
        }
        return null;
    }

    // ---- Comparing ----

    private void differs(Wish w, String what) {
        System.out.println(w.format + ", " + w.how + ", " + w.spec + ": " + what);
        System.exit(1);
    }

    /** A library that does not allow a key at all is not asked for it. */
    private void compare(Wish w) throws Exception {
        Filter f = read(w.how, w.bytes), own = make(w.how);
        for (int i = 0; i < w.asked.size(); i++)
            if (f.has(w.asked.get(i)) != w.answers.get(i))
                differs(w, "another answer for " + HEX.formatHex(w.asked.get(i)));
        if (!Arrays.equals(f.bytes(), w.bytes)) differs(w, "in and out: other bytes");
        for (byte[] key : w.keys) own.add(key);
        if (!Arrays.equals(own.bytes(), w.bytes))
            differs(w, "made anew: other bytes: " + HEX.formatHex(own.bytes()) + " and ours "
                    + HEX.formatHex(w.bytes));
    }

    void run(String[] args) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false);
        variant = args.length > 3 ? args[3] : "";
        if (args[0].equals("read")) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            long filters = 0, answers = 0;
            for (Wish w; (w = readWish(in)) != null; filters++, answers += w.asked.size()) compare(w);
            System.out.println(filters + " filters, " + answers + " answers");
            return;
        }
        dice.setSeed(Long.parseLong(args[2]));
        java.io.BufferedOutputStream buffer = new java.io.BufferedOutputStream(out, 1 << 16);
        PrintStream lines = new PrintStream(buffer, false);
        for (int i = Integer.parseInt(args[1]); i > 0; i--) {
            Wish w = randomWish();
            Filter f = null;
            if (args[0].equals("write")) {
                f = make(w.how);
                for (byte[] key : w.keys) f.add(key);
            }
            print(lines, w, f);
        }
        lines.flush();
        out.flush();
    }
}
