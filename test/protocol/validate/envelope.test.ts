import { describe, expect, test } from "bun:test";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { validateMessage } from "../../../src/protocol/validate/message.ts";
import {
  FarcasterNetwork,
  HashScheme,
  Message,
  MessageData,
  MessageType,
  ReactionType,
  SignatureScheme,
} from "../../../src/protocol/wire/generated/message.ts";
import {
  DEFAULT_TIMESTAMP,
  encodeData,
  makeSigner,
  sealDataBytes,
  signBytes,
  signMessage,
  type TestData,
} from "../../support/messages.ts";
import { expectOk } from "../../support/result.ts";
import {
  cast,
  castData,
  checkMessage,
  ctx,
  FID,
  HASH,
  IDENTITY,
  MAINNET,
  padded,
  type Refused,
  raw,
  seal,
  signer,
  testMessages,
  utf8,
  type Valid,
} from "./message-tables.ts";

const T = MessageType;
const LIKE = ReactionType.REACTION_TYPE_LIKE;
const genuine = cast({ text: "hi" });
const sealed = sealDataBytes(encodeData(castData({ text: "hi" })), signer);
const sealedData = sealed.dataBytes ?? raw();

/** A cast's envelope with some of its fields replaced after signing. */
function envelope(over: Partial<Message>, data: TestData = castData({ text: "hi" })): Uint8Array {
  return Message.encode(sealDataBytes(encodeData(data), signer, over)).finish();
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function addL(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString("hex")}`) + L;
  const bytes = Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse();
  return Buffer.concat([signature.subarray(0, 32), bytes]);
}

/** Replaces field 2 (fid) of MessageData by the given varint. */
function withFid(fid: readonly number[]): Uint8Array {
  const data = encodeData({ ...castData({ text: "hi" }), fid: 0 });
  return seal(raw(data, 0x10, Uint8Array.from(fid)));
}

const malformed: readonly Refused[] = [
  ["no bytes at all", new Uint8Array(), /neither/],
  ["an envelope without data", envelope({ dataBytes: undefined }), /neither/],
  ["truncated envelope", genuine.subarray(0, genuine.length - 1), /past the end/],
  ["truncated data", seal(sealedData.subarray(0, -1)), /past the end/],
  ["an envelope that continues after a zero tag", raw(genuine, 0, 1, 2), /field number/],
  [
    "data that continues after a zero tag",
    seal(raw(encodeData(castData({ text: "x" })), 0, 9)),
    /number is 0/,
  ],
  ["an end of a group without start", seal(raw(encodeData(castData({ text: "x" })), 0x54)), /wire type/],
  ["a group without end", seal(raw(0xf3, 0x01, 0x08, 0x01)), /group does not end/],
  ["a group with the end tag of another", seal(raw(0xf3, 0x01, 0xfc, 0x01)), /another's tag/],
  ["a thousand nested groups", seal(Buffer.alloc(2000, raw(0xf3, 0x01))), /too deeply/],
  ["a varint of eleven bytes", withFid([...new Array(10).fill(0x80), 0x01]), /varint/],
  ["a varint of more than 64 bits", withFid([...new Array(9).fill(0xff), 0x02]), /varint/],
  ["a negative length", seal(raw(0x2a, Uint8Array.from([...new Array(9).fill(0xff), 0x01]))), /past the end/],
  ["a length of 4 GiB", seal(raw(0x2a, 0xff, 0xff, 0xff, 0xff, 0x0f)), /past the end/],
  ["a nested message that overruns its length", seal(raw(0x2a, 2, 0x22, 3, utf8("abc"))), /past the end/],
  ["a known field of the wrong wire type", seal(raw(0x0a, 1, 0x01)), /wrong wire type/],
  ["a body of the wrong wire type", seal(raw(0x28, 0x01)), /wrong wire type/],
  ["one nested message twice", seal(raw(encodeData(castData({ text: "x" })), 0x2a, 0)), /twice/],
  ["invalid UTF-8 in a text", seal(raw(0x2a, 4, 0x22, 2, 0xc3, 0x28)), /UTF-8/],
  ["an encoded surrogate in a text", seal(raw(0x2a, 5, 0x22, 3, 0xed, 0xa0, 0x80)), /UTF-8/],
  ["an overlong NUL in a text", seal(raw(0x2a, 4, 0x22, 2, 0xc0, 0x80)), /UTF-8/],
  ["invalid UTF-8 in an embed", seal(raw(0x2a, 5, 0x32, 3, 0x0a, 1, 0xff)), /UTF-8/],
];

const refused: readonly Refused[] = [
  ["a hash of other data", envelope({ hash: flipped(sealed.hash, 3) }), /^hash/],
  ["a hash of 32 bytes", envelope({ hash: raw(sealed.hash, new Uint8Array(12)) }), /^hash/],
  ["no hash", envelope({ hash: raw() }), /^hash/],
  ["no hash scheme", envelope({ hashScheme: HashScheme.HASH_SCHEME_NONE }), /hash_scheme/],
  ["an unknown hash scheme", envelope({ hashScheme: 9 as HashScheme }), /hash_scheme/],
  ["a changed signature", envelope({ signature: flipped(sealed.signature, 40) }), /invalid signature/],
  ["a signature of 63 bytes", envelope({ signature: sealed.signature.subarray(1) }), /invalid signature/],
  ["no signature", envelope({ signature: raw() }), /invalid signature/],
  [
    "the public key of another signer",
    envelope({ signer: makeSigner("bob").publicKey }),
    /invalid signature/,
  ],
  ["a public key of 31 bytes", envelope({ signer: signer.publicKey.subarray(1) }), /invalid signature/],
  ["a malleable signature", envelope({ signature: addL(sealed.signature) }), /invalid signature/],
  [
    "a small-order key",
    envelope({ signer: IDENTITY, signature: raw(IDENTITY, new Uint8Array(32)) }),
    /invalid signature/,
  ],
  [
    "a signature of the data, not its hash",
    envelope({ signature: signBytes(sealedData, signer) }),
    /invalid signature/,
  ],
  [
    "signature scheme NONE",
    envelope({ signatureScheme: SignatureScheme.SIGNATURE_SCHEME_NONE }),
    /signature_scheme/,
  ],
  [
    "signature scheme EIP712",
    envelope({ signatureScheme: SignatureScheme.SIGNATURE_SCHEME_EIP712 }),
    /signature_scheme/,
  ],
  ["network NONE", cast({ text: "x" }, { network: 0 }), /network/],
  [
    "another network",
    cast({ text: "x" }, { network: FarcasterNetwork.FARCASTER_NETWORK_TESTNET }),
    /network/,
  ],
  ["601 seconds in the future", cast({ text: "x" }, { timestamp: DEFAULT_TIMESTAMP + 601 }), /future/],
  ["the largest timestamp", cast({ text: "x" }, { timestamp: 0xffff_ffff }), /future/],
  ["no fid", cast({ text: "x" }, { fid: 0 }), /fid is missing/],
  [
    "2049 bytes of a reaction",
    seal(
      padded(
        {
          type: T.MESSAGE_TYPE_REACTION_ADD,
          fid: FID,
          body: { $case: "reactionBody", value: { type: LIKE, target: { $case: "targetUrl", value: "u" } } },
        },
        2049,
      ),
    ),
    /larger than 2048/,
  ],
  ["16385 bytes of a cast", seal(padded(castData({ text: "x" }), 16_385)), /larger than 16384/],
  [
    "65537 bytes of a compact state",
    seal(
      padded(
        {
          type: T.MESSAGE_TYPE_LINK_COMPACT_STATE,
          fid: FID,
          body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids: [1] } },
        },
        65_537,
      ),
    ),
    /larger than 65536/,
  ],
  [
    "a type without a body",
    signMessage({ type: T.MESSAGE_TYPE_CAST_ADD, fid: FID }, signer),
    /body does not belong/,
  ],
  [
    "a cast's type with a remove's body",
    signMessage(
      {
        type: T.MESSAGE_TYPE_CAST_ADD,
        fid: FID,
        body: { $case: "castRemoveBody", value: { targetHash: HASH } },
      },
      signer,
    ),
    /body does not belong/,
  ],
  [
    "a compact state's type with a cast's body",
    signMessage({ ...castData({ text: "x" }), type: T.MESSAGE_TYPE_LINK_COMPACT_STATE }, signer),
    /body does not belong/,
  ],
  [
    "a link's type with a reaction's body",
    signMessage(
      {
        type: T.MESSAGE_TYPE_LINK_ADD,
        fid: FID,
        body: { $case: "reactionBody", value: { type: LIKE, target: { $case: "targetUrl", value: "u" } } },
      },
      signer,
    ),
    /body does not belong/,
  ],
  [
    "type NONE",
    signMessage({ ...castData({ text: "x" }), type: T.MESSAGE_TYPE_NONE }, signer),
    /type is unknown/,
  ],
  [
    "a message of a channel with the body of a cast",
    signMessage({ ...castData({ text: "x" }), type: T.MESSAGE_TYPE_CHANNEL_UPDATE }, signer),
    /body does not belong/,
  ],
  [
    "a negative type",
    signMessage({ ...castData({ text: "x" }), type: -1 as MessageType }, signer),
    /type is unknown/,
  ],
  [
    "a frame action",
    signMessage(
      {
        type: T.MESSAGE_TYPE_FRAME_ACTION,
        fid: FID,
        body: { $case: "frameActionBody", value: { url: utf8("u") } },
      },
      signer,
    ),
    /frame action/,
  ],
];

const valid: readonly Valid[] = [
  ["600 seconds in the future", cast({ text: "x" }, { timestamp: DEFAULT_TIMESTAMP + 600 })],
  ["the first second of the epoch", cast({ text: "x" }, { timestamp: 0 })],
  ["an fid of 2^53 - 1", cast({ text: "x" }, { fid: Number.MAX_SAFE_INTEGER })],
  ["an fid of 2^53, which is read as 2^53 - 1", withFid([128, 128, 128, 128, 128, 128, 128, 16])],
  ["an fid of 2^64 - 1, which is read as 2^53 - 1", withFid([...new Array(9).fill(0xff), 0x01])],
  [
    "2048 bytes of a reaction",
    seal(
      padded(
        {
          type: T.MESSAGE_TYPE_REACTION_ADD,
          fid: FID,
          body: { $case: "reactionBody", value: { type: LIKE, target: { $case: "targetUrl", value: "u" } } },
        },
        2048,
      ),
    ),
  ],
  ["16384 bytes of a cast", seal(padded(castData({ text: "x" }), 16_384))],
  [
    "65536 bytes of a compact state",
    seal(
      padded(
        {
          type: T.MESSAGE_TYPE_LINK_COMPACT_STATE,
          fid: FID,
          body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids: [1] } },
        },
        65_536,
      ),
    ),
  ],
  [
    "unknown fields, groups among them",
    seal(
      raw(
        encodeData(castData({ text: "x" })),
        0xf3,
        0x01,
        0x08,
        0x01,
        0xf4,
        0x01,
        0xf9,
        0x01,
        new Uint8Array(8),
        0xfd,
        0x01,
        new Uint8Array(4),
      ),
    ),
  ],
];

describe("decodeMessage", () => {
  testMessages([], malformed, "bad_request.parse_failure");
});

describe("the envelope", () => {
  testMessages(valid, refused, "bad_request.validation_failure");

  test("uses the signed data_bytes and ignores forged data beside them", () => {
    const forged = MessageData.fromPartial({ ...castData({ text: "forged" }), fid: 1, network: MAINNET });
    const message = expectOk(decodeMessage(envelope({ data: forged })));
    expect(validateMessage(message, ctx)).toBeUndefined();
    expect(message.data.fid).toBe(FID);
    expect(message.data.body?.$case === "castAddBody" && message.data.body.value.text).toBe("hi");
  });

  test("accepts data without data_bytes if its canonical form is signed", () => {
    const bytes = envelope({ dataBytes: undefined, data: MessageData.decode(sealedData) });
    expect(checkMessage(bytes)).toBeUndefined();
    const other = MessageData.fromPartial({ ...castData({ text: "hj" }), network: MAINNET });
    expect(checkMessage(envelope({ dataBytes: undefined, data: other }))?.reason).toMatch(/^hash/);
  });

  test("accepts messages of its own network only", () => {
    const network = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
    expect(checkMessage(cast({ text: "x" }, { network }), { ...ctx, network })).toBeUndefined();
    expect(checkMessage(genuine, { ...ctx, network })?.reason).toMatch(/network/);
    const none = FarcasterNetwork.FARCASTER_NETWORK_NONE;
    expect(checkMessage(cast({ text: "x" }, { network: none }), { ...ctx, network: none })?.reason).toMatch(
      /network/,
    );
  });

  test("reports the first error in the node's order: size, network, hash, signature, time, body", () => {
    const faults = { hash: new Uint8Array(20), signature: new Uint8Array(64) };
    const data: TestData = { ...castData({}), network: 0, timestamp: DEFAULT_TIMESTAMP + 700 };
    const big = padded(data, 16_385);
    expect(checkMessage(Message.encode(sealDataBytes(big, signer, faults)).finish())?.reason).toMatch(
      /larger/,
    );
    expect(checkMessage(envelope(faults, data))?.reason).toMatch(/network/);
    expect(checkMessage(envelope(faults, { ...data, network: MAINNET }))?.reason).toMatch(/^hash/);
    const late = { ...data, network: MAINNET };
    expect(checkMessage(envelope({ signature: faults.signature }, late))?.reason).toMatch(/signature/);
    expect(checkMessage(envelope({}, late))?.reason).toMatch(/future/);
    expect(checkMessage(envelope({}, { ...late, timestamp: 1 }))?.reason).toMatch(/cast is empty/);
  });
});
