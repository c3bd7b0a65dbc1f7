// Random values as JSON.stringify writes them, each text followed by a zero byte.
let state = 7;
const below = (end) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * end);
};
const pick = (from) => from[below(from.length)];
const CHARACTERS = ['"', "\\", "/", "\b", "\f", "\n", "\r", "\t", "\0", "\x1f", "\x7f", "<", ">", "&", "'", "a", " ", "é", "\u2028", "\u2029", "\ufeff", "\uffff", "日", "😀", "\u{10ffff}"];
const FIXED = [0, -0, 1, -1, 64, 1e-7, 1e-6, 0.00001, 1e16, 1e20, 1e21, 1.5e300, 5e-324, Number.MAX_VALUE, 2 ** 63, 0.1, 1 / 3];
const bits = new DataView(new ArrayBuffer(8));
const number = () => {
  switch (below(4)) {
    case 0:
      return pick(FIXED);
    case 1:
      return Math.round((below(2000000) - 1000000) / 10) / 10;
    case 2:
      return below(1000) * 10 ** (below(45) - 20);
  }
  for (let at = 0; at < 8; at++) bits.setUint8(at, below(256));
  const value = bits.getFloat64(0);
  return Number.isFinite(value) ? value : 2.5;
};
const text = () => Array.from({ length: below(6) }, () => pick(CHARACTERS)).join("");
const value = (depth) => {
  const kind = below(depth ? 8 : 6);
  if (kind < 3) return number();
  if (kind < 5) return text();
  if (kind === 5) return pick([null, true, false]);
  const length = below(4);
  if (kind === 6) return Array.from({ length }, () => value(depth - 1));
  return Object.fromEntries(Array.from({ length }, (_, at) => [text() + at, value(depth - 1)]));
};
const texts = [];
for (let count = 0; count < 300; count++) {
  const it = value(3);
  for (const indent of [undefined, 2, 4, "\t"]) texts.push(JSON.stringify(it, null, indent));
}
for (let count = 0; count < 400; count++) texts.push(JSON.stringify(number()));
process.stdout.write(texts.join("\0") + "\0");
