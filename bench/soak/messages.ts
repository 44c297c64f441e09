import { createKeyring } from "../../src/demo/keys.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { clientFidsOf } from "../../src/demo/roster.ts";
import { buildMessage } from "../../src/protocol/message/build-message.ts";
import { encodeMessage } from "../../src/protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import {
  FarcasterNetwork,
  MessageData,
  MessageType,
  ReactionType,
  UserDataType,
} from "../../src/protocol/wire/generated/message.ts";

/** A cast to which reactions, replies and removals refer. */
export interface Target {
  readonly fid: number;
  readonly hash: Uint8Array;
}

/** A valid message of the load, signed by a person of the demo network. */
export interface NextMessage {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly isCast: boolean;
}

type Content = Pick<MessageData, "type" | "body"> & { readonly fid: number };

/** Few people write, so that their storage is soon full and the index stops growing. */
const WRITERS = 12;
/** Maximum number of the load's own casts that may be removed. */
const OWN_CASTS = 300;
const FOLLOWED = { first: 100, count: 40 };
const CAST_WORDS = 12;
const WORDS =
  "bread sourdough garden bicycle morning signal window paper quiet market river lantern winter recipe station violin".split(
    " ",
  );

/**
 * Returns a source of messages in a fixed mix. Out of eight: three casts, a reply, a like and its removal, the removal of a
 * cast, and a follow, its removal or a biography.
 */
export function createMessages(targets: readonly Target[]): () => NextMessage {
  const keyring = createKeyring();
  const random = seededRandom("soak");
  const own: Target[] = [];
  let nth = 0;

  const text = () => `${Array.from({ length: CAST_WORDS }, () => random.pick(WORDS)).join(" ")} ${nth}`;
  function content(): Content {
    const fid = 1 + (nth % WRITERS);
    const round = Math.floor(nth / WRITERS);
    const target = targets[(round * 7 + fid) % targets.length];
    if (!target) throw new Error("there are no casts to refer to");
    switch (nth % 8) {
      case 3:
        return cast(fid, text(), { $case: "parentCastId", value: target });
      case 4:
        return like(fid, target, MessageType.MESSAGE_TYPE_REACTION_ADD);
      case 5:
        return like(fid, target, MessageType.MESSAGE_TYPE_REACTION_REMOVE);
      case 6: {
        const gone = own.shift();
        return gone ? removal(gone) : cast(fid, text());
      }
      case 7:
        return round % 3 === 0 ? biography(fid, text()) : follow(fid, round);
      default:
        return cast(fid, text());
    }
  }

  return () => {
    nth += 1;
    const data = {
      ...content(),
      timestamp: toFarcasterSecs(Math.floor(Date.now() / 1000)),
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    };
    const { fid, type } = data;
    const signed = buildMessage(
      MessageData.fromPartial(data as object),
      keyring.signer(fid, clientFidsOf(fid)[0] ?? fid),
    );
    const isCast = type === MessageType.MESSAGE_TYPE_CAST_ADD;
    if (isCast && own.length < OWN_CASTS) own.push({ fid, hash: signed.hash });
    return {
      bytes: Buffer.from(encodeMessage(signed)),
      hash: `0x${Buffer.from(signed.hash).toString("hex")}`,
      isCast,
    };
  };
}

function cast(fid: number, text: string, parent?: { $case: "parentCastId"; value: Target }): Content {
  const value = {
    text,
    mentions: [],
    mentionsPositions: [],
    embeds: [],
    embedsDeprecated: [],
    type: 0,
    parent,
  };
  return { fid, type: MessageType.MESSAGE_TYPE_CAST_ADD, body: { $case: "castAddBody", value } };
}

function removal({ fid, hash }: Target): Content {
  const body = { $case: "castRemoveBody" as const, value: { targetHash: hash } };
  return { fid, type: MessageType.MESSAGE_TYPE_CAST_REMOVE, body };
}

function like(fid: number, target: Target, type: MessageType): Content {
  const value = {
    type: ReactionType.REACTION_TYPE_LIKE,
    target: { $case: "targetCastId" as const, value: target },
  };
  return { fid, type, body: { $case: "reactionBody", value } };
}

/** Follows everyone on a list, then unfollows them. */
function follow(fid: number, round: number): Content {
  const isBack = Math.floor(round / FOLLOWED.count) % 2 === 1;
  const target = FOLLOWED.first + (round % FOLLOWED.count);
  return {
    fid,
    type: isBack ? MessageType.MESSAGE_TYPE_LINK_REMOVE : MessageType.MESSAGE_TYPE_LINK_ADD,
    body: {
      $case: "linkBody",
      value: {
        type: "follow",
        displayTimestamp: undefined,
        target: { $case: "targetFid", value: target },
      },
    },
  };
}

function biography(fid: number, value: string): Content {
  return {
    fid,
    type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
    body: { $case: "userDataBody", value: { type: UserDataType.USER_DATA_TYPE_BIO, value } },
  };
}
