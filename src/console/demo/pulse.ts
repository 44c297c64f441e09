import { createTexts, type Texts, withMentions } from "../../demo/contents/texts.ts";
import { createKeyring } from "../../demo/keys.ts";
import { demoPeople, type Person } from "../../demo/people.ts";
import { type Random, seededRandom } from "../../demo/random.ts";
import { clientFidsOf } from "../../demo/roster.ts";
import { buildMessage } from "../../protocol/message/build-message.ts";
import { encodeMessage } from "../../protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import {
  CastType,
  type FarcasterNetwork,
  type MessageData,
  MessageType,
  ReactionType,
} from "../../protocol/wire/generated/message.ts";
import type { SetTimer } from "../../runtime/clock.ts";

export interface DemoPulseDeps {
  /** Submits a signed message like any client of the hub. */
  readonly submit: (message: Uint8Array) => Promise<unknown>;
  readonly network: FarcasterNetwork;
  readonly nowMs: () => number;
  readonly setTimer: SetTimer;
  readonly onFault: (cause: unknown) => void;
}

type Body = NonNullable<MessageData["body"]>;
interface Deed {
  readonly person: Person;
  readonly type: MessageType;
  readonly body: Body;
}
interface RecentCast {
  readonly fid: number;
  readonly hash: Uint8Array;
}

const MAX_RECENT = 40;
const PULSE_KINDS = ["cast", "reply", "like", "recast", "follow"] as const;
const WEIGHTS = [45, 15, 25, 5, 10];

/** Makes the people of the demo network act, only on request. */
export function createDemoPulse(deps: DemoPulseDeps) {
  const { submit, network, nowMs, setTimer, onFault } = deps;
  const keyring = createKeyring();
  /** Created with the first pulse. */
  let cast: { readonly people: readonly Person[]; readonly texts: Texts } | undefined;
  /** Casts from pulses, to which later actions refer. */
  const recent: RecentCast[] = [];
  let endsAtMs = 0;
  let cancel: (() => void) | undefined;

  async function act(random: Random): Promise<void> {
    cast ??= peopleWithTexts();
    const { people, texts } = cast;
    const { person, type, body } = nextDeed(random, { people, texts, recent });
    const [clientFid = person.fid] = clientFidsOf(person.fid);
    const timestamp = toFarcasterSecs(Math.floor(nowMs() / 1000));
    const data = { type, fid: person.fid, timestamp, network, body };
    const message = buildMessage(data, keyring.signer(person.fid, clientFid));
    if (body.$case === "castAddBody") {
      recent.push({ fid: person.fid, hash: message.hash });
      if (recent.length > MAX_RECENT) recent.shift();
    }
    await submit(encodeMessage(message));
  }

  return {
    /**
     * Starts a pulse unless one is running.
     *
     * @returns when the running one ends.
     */
    start(seconds: number, perSecond: number): { readonly started: boolean; readonly endsAtMs: number } {
      if (cancel) return { started: false, endsAtMs };
      const startedAtMs = nowMs();
      const random = seededRandom(`pulse ${startedAtMs}`);
      const stepMs = 1000 / perSecond;
      let left = Math.max(1, Math.round(seconds * perSecond));
      endsAtMs = startedAtMs + seconds * 1000;
      const step = () => {
        left -= 1;
        cancel = left > 0 ? setTimer(stepMs, step) : undefined;
        act(random).catch(onFault);
      };
      step();
      return { started: true, endsAtMs };
    },
    stop(): void {
      cancel?.();
      cancel = undefined;
    },
  };
}

function peopleWithTexts() {
  const texts = createTexts();
  return { people: demoPeople(texts), texts };
}

/** Chooses the next action; a cast if there is nothing to refer to. */
function nextDeed(
  random: Random,
  scene: {
    readonly people: readonly Person[];
    readonly texts: Texts;
    readonly recent: readonly RecentCast[];
  },
): Deed {
  const { people, texts, recent } = scene;
  const person = random.pick(people);
  const kind = recent.length === 0 ? "cast" : PULSE_KINDS[random.weighted(WEIGHTS)];
  if (kind === "follow") {
    const target = random.pick(people.filter(({ fid }) => fid !== person.fid));
    const value = { type: "follow", target: { $case: "targetFid", value: target.fid } } as const;
    return { person, type: MessageType.MESSAGE_TYPE_LINK_ADD, body: { $case: "linkBody", value } };
  }
  if (kind === "like" || kind === "recast") {
    const type = kind === "like" ? ReactionType.REACTION_TYPE_LIKE : ReactionType.REACTION_TYPE_RECAST;
    const value = { type, target: { $case: "targetCastId", value: random.pick(recent) } } as const;
    return { person, type: MessageType.MESSAGE_TYPE_REACTION_ADD, body: { $case: "reactionBody", value } };
  }
  const draft = kind === "reply" ? texts.reply(person, random) : texts.post(person, random);
  const mentioned = random.shuffled(people.map(({ fid }) => fid).filter((fid) => fid !== person.fid));
  const value = {
    ...withMentions(draft, mentioned),
    embedsDeprecated: [],
    embeds: [],
    type: CastType.CAST_TYPE_CAST,
    parent: kind === "reply" ? ({ $case: "parentCastId", value: random.pick(recent) } as const) : undefined,
  };
  return { person, type: MessageType.MESSAGE_TYPE_CAST_ADD, body: { $case: "castAddBody", value } };
}
