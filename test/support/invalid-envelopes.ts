import { clientKey, headerOf, sealEnvelope, type TestEnvelope } from "./envelopes.ts";
import { makeSigner, signBytes, type TestSigner } from "./messages.ts";

/** The defect, the envelope, and whether the reference library also rejects it. */
export type InvalidEnvelope = [what: string, envelope: TestEnvelope, reference: "agrees" | "laxer"];

const payload = { event: "miniapp_removed" };

/** Envelopes with strings in all three fields, all of them invalid, for one key of one fid. */
export function invalidEnvelopes(fid: number, signer: TestSigner): InvalidEnvelope[] {
  const header = headerOf(fid, signer);
  const sealed = (over: object | string) =>
    sealEnvelope(typeof over === "string" ? over : { ...header, ...over }, payload, signer);
  const good = sealEnvelope(header, payload, signer);
  const other = makeSigner("nobody's key");
  const encoded = (encoding: (bytes: Buffer) => string) =>
    sealEnvelope({ ...header, pad: "~~~???" }, { ...payload, pad: "~~~???>>" }, signer, (part) =>
      encoding(Buffer.from(part)),
    );
  const signatureBytes = Buffer.from(good.signature, "base64url");
  const withSignature = (bytes: Uint8Array) => ({
    ...good,
    signature: Buffer.from(bytes).toString("base64url"),
  });
  const flip = (text: string) => {
    const bytes = Buffer.from(text, "base64url");
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    return bytes.toString("base64url");
  };
  // The low point of order 1 as key and as R: it "signs" everything.
  const identity = Buffer.concat([Buffer.of(1), Buffer.alloc(31)]);
  // The group order: s + L is another encoding of the same scalar.
  const L = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(signatureBytes.subarray(32)).reverse().toString("hex")}`);
  const sPlusL = Buffer.from((s + L).toString(16).padStart(64, "0"), "hex").reverse();
  const lastBitsSet = (text: string) => `${text.slice(0, -1)}${nextCharacter(text.at(-1) ?? "A")}`;

  return [
    ["an empty header", { ...good, header: "" }, "agrees"],
    ["an empty payload", { ...good, payload: "" }, "agrees"],
    ["an empty signature", { ...good, signature: "" }, "agrees"],
    ["an empty payload that is signed", sealEnvelope(header, "", signer), "laxer"],
    ["padding in every part", encoded((bytes) => bytes.toString("base64")), "laxer"],
    [
      "base64 with plus and slash, without padding",
      encoded((bytes) => bytes.toString("base64").replaceAll("=", "")),
      "laxer",
    ],
    ["a padded signature", { ...good, signature: `${good.signature}==` }, "laxer"],
    [
      "a signature with set bits behind its end",
      { ...good, signature: lastBitsSet(good.signature) },
      "laxer",
    ],
    ["a signature in hex", { ...good, signature: signatureBytes.toString("hex") }, "agrees"],
    ["a space before the header", { ...good, header: ` ${good.header}` }, "agrees"],
    ["a line break behind the payload", { ...good, payload: `${good.payload}\n` }, "agrees"],
    ["a dot in the header", { ...good, header: `${good.header}.` }, "agrees"],
    ["a header of one character", { ...good, header: "e" }, "agrees"],
    ["plain JSON as its header", { ...good, header: JSON.stringify(header) }, "agrees"],
    ["a header that is no JSON", sealed("fid=5"), "agrees"],
    ["a header that is no UTF-8", sealEnvelope(Buffer.from([0x7b, 0xff, 0x7d]), payload, signer), "agrees"],
    ["an array as its header", sealed(JSON.stringify([header])), "agrees"],
    ["null as its header", sealed("null"), "agrees"],
    ["a string as its header", sealed(JSON.stringify(JSON.stringify(header))), "agrees"],
    ["a header with a byte order mark", sealed(`\uFEFF${JSON.stringify(header)}`), "agrees"],
    ["no fid", sealed({ fid: undefined }), "agrees"],
    ["its fid as a string", sealed({ fid: String(fid) }), "agrees"],
    ["its fid in an array", sealed({ fid: [fid] }), "agrees"],
    ["fid null", sealed({ fid: null }), "agrees"],
    ["fid true", sealed({ fid: true }), "agrees"],
    ["fid 0", sealed({ fid: 0 }), "agrees"],
    ["a negative fid", sealed({ fid: -fid }), "agrees"],
    ["a fid that is no integer", sealed({ fid: fid + 0.5 }), "agrees"],
    ["a fid 2^32 above", sealed({ fid: fid + 2 ** 32 }), "agrees"],
    [
      "a fid above 2^53",
      sealed(JSON.stringify(header).replace(`"fid":${fid}`, `"fid":${2n ** 53n + BigInt(fid)}`)),
      "agrees",
    ],
    [
      "a fid beyond every number",
      sealed(JSON.stringify(header).replace(`"fid":${fid}`, '"fid":1e999')),
      "agrees",
    ],
    ["the fid of another user", sealed({ fid: fid + 1 }), "agrees"],
    [
      "a fid that only its prototype has",
      sealed(JSON.stringify(header).replace(`"fid":${fid}`, `"__proto__":{"fid":${fid}}`)),
      "agrees",
    ],
    ["no type", sealed({ type: undefined }), "agrees"],
    ["type custody", sealed({ type: "custody" }), "agrees"],
    ["type auth", sealed({ type: "auth" }), "agrees"],
    ["type APP_KEY", sealed({ type: "APP_KEY" }), "agrees"],
    ["its type in an array", sealed({ type: ["app_key"] }), "agrees"],
    ["no key", sealed({ key: undefined }), "agrees"],
    ["a key without 0x", sealed({ key: header.key.slice(2) }), "agrees"],
    ["a key with 0X", sealed({ key: header.key.replace("0x", "0X") }), "agrees"],
    ["a key of 31 bytes", sealed({ key: header.key.slice(0, -2) }), "agrees"],
    ["a key of 33 bytes", sealed({ key: `${header.key}00` }), "agrees"],
    ["a key that is no hex", sealed({ key: `0x${"zz".repeat(32)}` }), "agrees"],
    ["a key and a line break", sealed({ key: `${header.key}\n` }), "agrees"],
    ["an address as its key", sealed({ key: header.key.slice(0, 42) }), "agrees"],
    ["the key of another", sealed({ key: headerOf(fid, other).key }), "agrees"],
    [
      "a key of small order",
      {
        ...sealed({ key: `0x${identity.toString("hex")}` }),
        signature: Buffer.concat([identity, Buffer.alloc(32)]).toString("base64url"),
      },
      "agrees",
    ],
    ["a key that is not registered", sealEnvelope(headerOf(fid, other), payload, other), "agrees"],
    [
      "the key of another fid",
      sealEnvelope(headerOf(fid, clientKey(6, 9152)), payload, clientKey(6, 9152)),
      "agrees",
    ],
    [
      "a signature by another key",
      { ...good, signature: sealEnvelope(header, payload, other).signature },
      "agrees",
    ],
    [
      "the signature of another payload",
      { ...good, signature: sealEnvelope(header, { event: "miniapp_added" }, signer).signature },
      "agrees",
    ],
    [
      "a signature of the payload alone",
      withSignature(signBytes(Buffer.from(good.payload), signer)),
      "agrees",
    ],
    [
      "a signature of the decoded parts",
      withSignature(signBytes(Buffer.from(`${JSON.stringify(header)}.${JSON.stringify(payload)}`), signer)),
      "agrees",
    ],
    ["a signature of zeros", withSignature(new Uint8Array(64)), "agrees"],
    ["a signature of 63 bytes", withSignature(signatureBytes.subarray(0, 63)), "agrees"],
    ["a signature of 65 bytes", withSignature(Buffer.concat([signatureBytes, Buffer.of(27)])), "agrees"],
    [
      "a signature whose s is not reduced",
      withSignature(Buffer.concat([signatureBytes.subarray(0, 32), sPlusL])),
      "agrees",
    ],
    ["one bit of the header changed", { ...good, header: flip(good.header) }, "agrees"],
    ["one bit of the payload changed", { ...good, payload: flip(good.payload) }, "agrees"],
    ["one bit of the signature changed", { ...good, signature: flip(good.signature) }, "agrees"],
    ["header and payload swapped", { ...good, header: good.payload, payload: good.header }, "agrees"],
    [
      "the dot moved",
      { ...good, header: good.header.slice(0, -4), payload: `${good.header.slice(-4)}${good.payload}` },
      "agrees",
    ],
  ];
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The last character of 64 bytes carries four bits that stand for nothing; this sets one of them. */
function nextCharacter(character: string): string {
  return ALPHABET.charAt(ALPHABET.indexOf(character) | 1);
}
