import { type Random, seededRandom } from "../../src/demo/random.ts";
import { messageHash } from "../../src/protocol/message/message-hash.ts";
import type { SignedMessage } from "../../src/protocol/message/signed-message.ts";
import {
  CastType,
  type DeepPartial,
  FarcasterNetwork,
  MessageData,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_TIMESTAMP, makeSigner, signBytes } from "./messages.ts";
import { ODD_ENCODINGS } from "./odd-encodings.ts";

/**
 * Messages of few users about few targets in few seconds, so that every rare case is frequent: removes before and after what
 * they remove, several messages of one slot, replies before their parents and to casts that never arrive, two casts with equal
 * time and first hash bits, wrong authors, odd encodings. Their signatures are valid; what they say need not be.
 */
export function wildMessages(seed: string, count: number): SignedMessage[] {
  const random = seededRandom(`wild ${seed}`);
  const network = new WildNetwork(random);
  return Array.from({ length: count }, () => network.next());
}

const FIDS = 6;
const SECONDS = 40;
const WEEK_SECS = 604_800;
const TEXTS = ["gm", "Grüße an alle", "日本語のテキスト", "สวัสดี", "", "one two\u0000three", 'a\'b "c" 😀'];
const URLS = [
  "https://farcaster.xyz/~/channel/home",
  "https://warpcast.com/~/channel/home",
  "home",
  "https://a.example/x",
  "chain://eip155:1/erc721:0x1",
];
const ENCODINGS = Object.values(ODD_ENCODINGS);

interface Target {
  readonly fid: number;
  readonly hash: Uint8Array;
}

class WildNetwork {
  readonly #random: Random;
  readonly #signers = Array.from({ length: 3 }, (_, n) => makeSigner(`wild ${n}`));
  readonly #casts: Target[] = [];
  readonly #twins: DeepPartial<MessageData>[];

  constructor(random: Random) {
    this.#random = random;
    this.#twins = twinCasts(random.below(1000));
  }

  next(): SignedMessage {
    const { body, type } = this.#body();
    const random = this.#random;
    const fid = 1 + random.below(FIDS);
    // Two weeks, so that casts are in several tables of the spool.
    const timestamp = DEFAULT_TIMESTAMP + random.below(SECONDS) + random.below(2) * WEEK_SECS;
    const twin = random.chance(0.05) ? this.#twins.pop() : undefined;
    const message = this.#seal(MessageData.fromPartial(twin ?? { type, fid, timestamp, body, network: 1 }));
    if (message.data.type === MessageType.MESSAGE_TYPE_CAST_ADD)
      this.#casts.push({ fid: message.data.fid, hash: message.hash });
    return message;
  }

  #body(): { type: MessageType; body: NonNullable<DeepPartial<MessageData>["body"]> } {
    const random = this.#random;
    const kind = random.weighted([30, 6, 22, 8, 14, 6, 2, 6, 3, 2, 2]);
    const followed = 1 + random.below(FIDS);
    switch (kind) {
      case 0:
        return {
          type: MessageType.MESSAGE_TYPE_CAST_ADD,
          body: { $case: "castAddBody", value: this.#cast() },
        };
      case 1:
        return {
          type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
          body: { $case: "castRemoveBody", value: { targetHash: this.#target().hash } },
        };
      case 2:
      case 3: {
        const target = random.chance(0.2)
          ? ({ $case: "targetUrl", value: random.pick(URLS) } as const)
          : ({ $case: "targetCastId", value: this.#target() } as const);
        return {
          type: kind === 2 ? MessageType.MESSAGE_TYPE_REACTION_ADD : MessageType.MESSAGE_TYPE_REACTION_REMOVE,
          body: { $case: "reactionBody", value: { type: 1 + random.below(2), target } },
        };
      }
      case 4:
      case 5: {
        const displayTimestamp = random.chance(0.3) ? DEFAULT_TIMESTAMP - random.below(1000) : undefined;
        const target = { $case: "targetFid", value: followed } as const;
        const type = random.pick(["follow", "follow", "follow", "block", "mute"]);
        return {
          type: kind === 4 ? MessageType.MESSAGE_TYPE_LINK_ADD : MessageType.MESSAGE_TYPE_LINK_REMOVE,
          body: { $case: "linkBody", value: { type, target, displayTimestamp } },
        };
      }
      case 6:
        return {
          type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
          body: {
            $case: "lendStorageBody",
            value: { toFid: followed, numUnits: 1 + random.below(2), unitType: 1 },
          },
        };
      case 7:
        return {
          type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
          body: {
            $case: "userDataBody",
            value: { type: 1 + random.below(3), value: random.pick(["", "Ada Lovelace", "ada"]) },
          },
        };
      case 8:
      case 9: {
        const address = Buffer.alloc(20, random.below(4));
        const isAdd = kind === 8;
        return {
          type: isAdd
            ? MessageType.MESSAGE_TYPE_VERIFICATION_ADD
            : MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
          body: isAdd
            ? { $case: "verificationAddBody", value: { address, claimSignature: Buffer.alloc(65) } }
            : { $case: "verificationRemoveBody", value: { address } },
        };
      }
      default:
        return this.#body();
    }
  }

  #cast() {
    const random = this.#random;
    const embeds = Array.from({ length: random.below(3) }, () =>
      random.chance(0.5)
        ? ({ embed: { $case: "castId", value: this.#target() } } as const)
        : ({ embed: { $case: "url", value: random.pick(URLS) } } as const),
    );
    const mentions = Array.from({ length: random.below(3) }, () => 1 + random.below(FIDS));
    const parent = random.chance(0.5)
      ? ({ $case: "parentCastId", value: this.#target() } as const)
      : random.chance(0.5)
        ? ({ $case: "parentUrl", value: random.pick(URLS) } as const)
        : undefined;
    const text = `${random.pick(TEXTS)} ${random.below(1000)}`;
    return {
      text,
      embeds,
      mentions,
      mentionsPositions: mentions.map(() => 0),
      parent,
      type: CastType.CAST_TYPE_CAST,
    };
  }

  /** A cast that exists or not, at times with a wrong author. */
  #target(): Target {
    const random = this.#random;
    if (this.#casts.length === 0 || random.chance(0.15))
      return { fid: 1 + random.below(FIDS), hash: messageHash(Buffer.of(random.below(20))) };
    const cast = random.pick(this.#casts);
    return random.chance(0.1) ? { ...cast, fid: 1 + random.below(FIDS) } : cast;
  }

  #seal(data: MessageData): SignedMessage {
    const random = this.#random;
    const canonical = MessageData.encode(data).finish();
    const dataBytes = random.chance(0.05) ? new Uint8Array(random.pick(ENCODINGS)(canonical)) : canonical;
    const hash = messageHash(dataBytes);
    // Only the hash: of two messages with equal data the first would stay, whatever the rules.
    const [first = 0] = hash;
    const signer = this.#signers[first % this.#signers.length] ?? makeSigner("wild 0");
    return {
      data: MessageData.decode(dataBytes),
      dataBytes,
      hash,
      hashScheme: 1,
      signature: signBytes(hash, signer),
      signatureScheme: 1,
      signer: signer.publicKey,
    };
  }
}

/** Casts of one second of which at least two share the first 16 bits of their hashes. */
function twinCasts(seed: number): DeepPartial<MessageData>[] {
  const byStart = new Map<number, DeepPartial<MessageData>[]>();
  for (let n = 0; n < 1500; n++) {
    const data: DeepPartial<MessageData> = {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: 1 + (n % FIDS),
      timestamp: DEFAULT_TIMESTAMP,
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
      body: { $case: "castAddBody", value: { text: `twin ${seed} ${n}` } },
    };
    const start = Buffer.from(
      messageHash(MessageData.encode(MessageData.fromPartial(data)).finish()),
    ).readUInt16BE();
    byStart.set(start, [...(byStart.get(start) ?? []), data]);
  }
  return [...byStart.values()].filter(({ length }) => length > 1).flat();
}
