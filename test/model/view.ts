import { encodeBase58 } from "../../src/lib/base58.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { IdRegisterEventType, OnChainEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import { type Hex, hexOf } from "./facts.ts";
import { EPOCH, type Network } from "./network.ts";

/** The live objects as plain lists, with the field names of the responses. Times are unix seconds. */

export interface LiveCast {
  readonly hash: Hex;
  readonly fid: number;
  readonly at: number;
  readonly text: string;
  readonly parent: { readonly fid: number; readonly hash: Hex } | null;
  readonly parentUrl: string | null;
  /** The fid and its byte offset in the text. */
  readonly mentions: readonly (readonly [fid: number, offset: number])[];
  readonly embeds: readonly ({ readonly url: string } | { readonly fid: number; readonly hash: Hex })[];
}

/** What a channel has that is not registered in the protocol, as none of the model's is. */
const NOT_REGISTERED = {
  channel_id: null,
  owner: null,
  owner_address: null,
  expires_at: null,
  lapsed: false,
  header: null,
  rules: null,
  casting_mode: null,
  membership_mode: null,
};

/** An imported channel. */
export interface RegisteredChannel {
  readonly id: string;
  /** The registry's own name for it. */
  readonly registryId: string;
  readonly url: string;
  readonly name: string;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly leadFid: number | null;
  readonly moderatorFids: readonly number[];
  readonly createdAt: number | null;
  readonly followerCount: number;
  readonly pinnedCastHash: string | null;
}

export interface LiveReaction {
  readonly hash: Hex;
  readonly fid: number;
  readonly at: number;
  readonly type: "like" | "recast";
  /** Null for a reaction to a URL. */
  readonly target: { readonly fid: number; readonly hash: Hex } | null;
}

export interface LiveLink {
  readonly hash: Hex;
  readonly fid: number;
  readonly type: string;
  readonly target: number;
  /** The display time if it is set, else the message's time. */
  readonly at: number;
}

export interface LiveVerification {
  readonly hash: Hex;
  readonly fid: number;
  readonly at: number;
  readonly isEthereum: boolean;
  /** As in responses. */
  readonly address: string;
}

/** Newest first, a tie broken by hash. */
export const newestFirst = (a: { at: number; hash: string }, b: { at: number; hash: string }) =>
  b.at - a.at || (a.hash < b.hash ? 1 : a.hash > b.hash ? -1 : 0);

export const ascending = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the channel of a parent URL: decisions.md, section 3, Channel. */
export function channelIdOf(parentUrl: string): string {
  return (
    /^https:\/\/(?:warpcast\.com|farcaster\.xyz)\/~\/channel\/([^/?#]+)$/.exec(parentUrl)?.[1] ?? parentUrl
  );
}

/** Returns the canonical URL of a channel. */
export function channelUrl(id: string): string {
  return /^[a-z]+:/.test(id) ? id : `https://warpcast.com/~/channel/${id}`;
}

/** A snapshot of the network. It contains no rule of any endpoint. */
export class View {
  readonly nowSecs: number;
  readonly fids: readonly number[];
  readonly casts: readonly LiveCast[];
  readonly reactions: readonly LiveReaction[];
  readonly links: readonly LiveLink[];
  readonly verifications: readonly LiveVerification[];
  readonly names: ReturnType<Network["names"]>;
  readonly castByHash: ReadonlyMap<Hex, LiveCast>;
  readonly #userData = new Map<string, string>();
  readonly #users = new Map<number, ReturnType<View["describeUser"]>>();
  /** Cached descriptions: a snapshot does not change. */
  readonly #castObjects = new Map<Hex, object>();
  readonly #known: ReadonlySet<number>;

  constructor(
    readonly network: Network,
    readonly registry: readonly RegisteredChannel[] = [],
  ) {
    this.nowSecs = network.nowSecs;
    this.fids = network.fids();
    this.#known = new Set(this.fids);
    this.names = network.names();
    this.casts = network.adds("casts").flatMap(({ data, hash, fid, at }): LiveCast[] => {
      if (data.body?.$case !== "castAddBody") return [];
      const { text, parent, mentions, mentionsPositions, embeds, embedsDeprecated } = data.body.value;
      return [
        {
          hash,
          fid,
          at: at + EPOCH,
          text,
          parent: parent?.$case === "parentCastId" ? castIdOf(parent.value) : null,
          parentUrl: parent?.$case === "parentUrl" ? parent.value : null,
          mentions: mentions.map((mentioned, index) => [mentioned, mentionsPositions[index] ?? 0] as const),
          embeds: [
            ...embeds.flatMap(({ embed }) =>
              embed === undefined
                ? []
                : [embed.$case === "url" ? { url: embed.value } : castIdOf(embed.value)],
            ),
            ...embedsDeprecated.map((url) => ({ url })),
          ],
        },
      ];
    });
    this.castByHash = new Map(this.casts.map((cast) => [cast.hash, cast]));
    this.reactions = network.adds("reactions").flatMap(({ data, hash, fid, at }): LiveReaction[] => {
      if (data.body?.$case !== "reactionBody") return [];
      const { type, target } = data.body.value;
      return [
        {
          hash,
          fid,
          at: at + EPOCH,
          type: type === 1 ? "like" : "recast",
          target: target?.$case === "targetCastId" ? castIdOf(target.value) : null,
        },
      ];
    });
    this.links = network.adds("links").flatMap(({ data, hash, fid, at }): LiveLink[] => {
      if (data.body?.$case !== "linkBody") return [];
      const { type, target, displayTimestamp } = data.body.value;
      return [{ hash, fid, type, target: target?.value ?? 0, at: (displayTimestamp || at) + EPOCH }];
    });
    this.verifications = network
      .adds("verifications")
      .sort((a, b) => a.at - b.at || ascending(a.hash, b.hash))
      .flatMap(({ data, hash, fid, at }): LiveVerification[] => {
        if (data.body?.$case !== "verificationAddBody") return [];
        const { address, protocol } = data.body.value;
        const isEthereum = protocol === 0;
        const shown = isEthereum ? hexOf(address) : encodeBase58(address);
        return [{ hash, fid, at: at + EPOCH, isEthereum, address: shown }];
      });
    for (const { fid, data } of network.adds("user_data")) {
      if (data.body?.$case === "userDataBody" && data.body.value.value !== "")
        this.#userData.set(`${fid} ${data.body.value.type}`, data.body.value.value);
    }
  }

  exists(fid: number): boolean {
    return this.#known.has(fid);
  }

  userData(fid: number, type: UserDataType): string | null {
    return this.#userData.get(`${fid} ${type}`) ?? null;
  }

  location(fid: number): string | null {
    return this.userData(fid, UserDataType.USER_DATA_TYPE_LOCATION);
  }

  /** Fids that `fid` follows, blocks or mutes. */
  targetsOf(fid: number, type: string): Set<number> {
    return new Set(
      this.links.filter((link) => link.fid === fid && link.type === type).map(({ target }) => target),
    );
  }

  /** Live casts whose parent is this very cast. */
  repliesTo(cast: { fid: number; hash: Hex }): LiveCast[] {
    return this.casts.filter(({ parent }) => parent?.hash === cast.hash && parent.fid === cast.fid);
  }

  reactionsTo(cast: { fid: number; hash: Hex }): LiveReaction[] {
    return this.reactions.filter(({ target }) => target?.hash === cast.hash && target.fid === cast.fid);
  }

  /** Returns the live cast of a cast id; undefined for an id with another author's fid. */
  castOf(id: { fid: number; hash: Hex } | null): LiveCast | undefined {
    const cast = id ? this.castByHash.get(id.hash) : undefined;
    return cast?.fid === id?.fid ? cast : undefined;
  }

  /** Returns the topmost named ancestor, and its parent URL while it is live. */
  rootOf(cast: LiveCast): { hash: Hex; parentUrl: string | null } {
    let at = cast;
    while (at.parent) {
      const parent = this.castOf(at.parent);
      if (!parent) return { hash: at.parent.hash, parentUrl: null };
      at = parent;
    }
    return { hash: at.hash, parentUrl: at.parentUrl };
  }

  usernameOf(fid: number): string {
    const declared = this.userData(fid, UserDataType.USER_DATA_TYPE_USERNAME);
    const isLive =
      declared !== null && this.names.some(({ name, fid: owner }) => name === declared && owner === fid);
    return isLive && this.exists(fid) ? declared : `!${fid}`;
  }

  followerCount(fid: number): number {
    return this.links.filter(({ type, target }) => type === "follow" && target === fid).length;
  }

  /** The User object; undefined for an fid without an id-registry event. */
  user(fid: number) {
    if (!this.exists(fid)) return undefined;
    const known = this.#users.get(fid) ?? this.describeUser(fid);
    this.#users.set(fid, known);
    return known;
  }

  /** Returns the User objects of the fids that exist, in the order of `fids`. */
  users(fids: Iterable<number>) {
    return [...fids].flatMap((fid) => this.user(fid) ?? []);
  }

  describeUser(fid: number) {
    const { network } = this;
    const data = (type: UserDataType) => this.userData(fid, type);
    const own = this.verifications.filter((verification) => verification.fid === fid);
    const eth = own.filter(({ isEthereum }) => isEthereum).map(({ address }) => address);
    const sol = own.filter(({ isEthereum }) => !isEthereum).map(({ address }) => address);
    const primary = (verified: string[], declared: string | null | undefined) =>
      declared && verified.includes(declared) ? declared : (verified[0] ?? null);
    const location = data(UserDataType.USER_DATA_TYPE_LOCATION)?.replace("geo:", "").split(",");
    const banner = data(UserDataType.USER_DATA_TYPE_BANNER);
    const x = data(UserDataType.USER_DATA_TYPE_TWITTER);
    const github = data(UserDataType.USER_DATA_TYPE_GITHUB);
    const pro = network.proOf(fid);
    const registered = network
      .eventsOf(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER)
      .find(
        ({ body }) =>
          body?.$case === "idRegisterEventBody" &&
          body.value.eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER,
      );
    return {
      object: "user",
      fid,
      username: this.usernameOf(fid),
      display_name: data(UserDataType.USER_DATA_TYPE_DISPLAY),
      custody_address: network.custodyOf(fid),
      pfp_url: data(UserDataType.USER_DATA_TYPE_PFP),
      registered_at: registered?.blockTimestamp ?? null,
      profile: {
        bio: { text: data(UserDataType.USER_DATA_TYPE_BIO) ?? "" },
        location: location ? { latitude: Number(location[0]), longitude: Number(location[1]) } : null,
        banner: banner === null ? null : { url: banner },
        url: data(UserDataType.USER_DATA_TYPE_URL),
      },
      follower_count: this.followerCount(fid),
      following_count: this.links.filter((link) => link.type === "follow" && link.fid === fid).length,
      verifications: eth,
      auth_addresses: network
        .keysOf(fid)
        .filter(({ keyType, isReset }) => keyType === 2 && !isReset)
        .map(({ key }) => ({ address: `0x${key.slice(26)}`, app: { fid: null } })),
      verified_addresses: {
        eth_addresses: eth,
        sol_addresses: sol,
        primary: {
          eth_address: primary(
            eth,
            data(UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM)?.toLowerCase(),
          ),
          sol_address: primary(sol, data(UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA)),
        },
      },
      verified_accounts: [
        ...(x === null ? [] : [{ platform: "x", username: x }]),
        ...(github === null ? [] : [{ platform: "github", username: github }]),
      ],
      pro: pro
        ? {
            status: pro.end > this.nowSecs ? "subscribed" : "unsubscribed",
            subscribed_at: pro.start,
            expires_at: pro.end,
          }
        : null,
      power_badge: false,
    };
  }

  /** The Cast object of a live cast, its quoted casts without theirs. */
  cast(cast: LiveCast): object {
    const known = this.#castObjects.get(cast.hash) ?? this.#describeWithQuotes(cast);
    this.#castObjects.set(cast.hash, known);
    return known;
  }

  #describeWithQuotes(cast: LiveCast) {
    return this.#describeCast(cast, (id) => {
      const quoted = this.castOf(id);
      return quoted ? this.#describeCast(quoted, () => null) : null;
    });
  }

  #describeCast<Quoted>(cast: LiveCast, quote: (id: { fid: number; hash: Hex }) => Quoted) {
    const { hash, fid, at, parent, parentUrl } = cast;
    const root = this.rootOf(cast);
    const reactions = this.reactionsTo(cast);
    const { text, named } = this.#insertNames(cast);
    const shown = named.filter((mention) => this.exists(mention.fid));
    return {
      object: "cast",
      hash,
      thread_hash: root.hash,
      parent_hash: parent?.hash ?? null,
      parent_url: parentUrl,
      root_parent_url: root.parentUrl,
      parent_author: { fid: parent?.fid ?? null },
      author: this.user(fid),
      text,
      timestamp: at,
      embeds: cast.embeds.map((embed) =>
        "url" in embed
          ? { url: embed.url }
          : { cast_id: { fid: embed.fid, hash: embed.hash }, cast: quote(embed) },
      ),
      type: parent ? "cast-reply" : "cast",
      reactions: {
        likes_count: reactions.filter(({ type }) => type === "like").length,
        recasts_count: reactions.filter(({ type }) => type === "recast").length,
        likes: [],
        recasts: [],
      },
      replies: { count: this.repliesTo(cast).length },
      mentioned_profiles: shown.map((mention) => this.user(mention.fid)),
      mentioned_profiles_ranges: shown.map(({ start, end }) => ({ start, end })),
      channel: this.#dehydratedChannel(root.parentUrl),
      app: null,
    };
  }

  /** Inserts `@username` at the byte offsets of the mentions. The ranges are UTF-16 offsets of the result. */
  #insertNames({ text, mentions }: LiveCast) {
    const bytes = Buffer.from(text);
    const named: { fid: number; start: number; end: number }[] = [];
    let out = "";
    let from = 0;
    for (const [fid, offset] of mentions) {
      out += bytes.subarray(from, offset).toString();
      from = offset;
      const start = out.length;
      out += `@${this.usernameOf(fid)}`;
      named.push({ fid, start, end: out.length });
    }
    return { text: out + bytes.subarray(from).toString(), named };
  }

  #dehydratedChannel(rootParentUrl: string | null) {
    if (rootParentUrl === null) return null;
    const id = channelIdOf(rootParentUrl);
    const imported = this.registered(id);
    return {
      object: "channel_dehydrated",
      id,
      name: imported?.name ?? id,
      image_url: imported?.imageUrl ?? null,
      parent_url: imported?.url ?? channelUrl(id),
    };
  }

  /** Live casts directly under any URL of a channel. */
  castsInChannel(id: string): LiveCast[] {
    return this.casts.filter(({ parentUrl }) => parentUrl !== null && channelIdOf(parentUrl) === id);
  }

  /** Ids of all channels, in order. */
  channelIds(): string[] {
    const ids = this.casts.flatMap(({ parentUrl }) => (parentUrl === null ? [] : [channelIdOf(parentUrl)]));
    return [...new Set([...ids, ...this.registry.map(({ id }) => id)])].sort(ascending);
  }

  registered(id: string): RegisteredChannel | undefined {
    return this.registry.find((channel) => channel.id === id);
  }

  /** The id of the channel that a text names: its id, one of its URLs, or else the registry's own name for it. */
  channelNamed(text: string): string {
    const id = channelIdOf(text);
    if (this.channel(id)) return id;
    return this.registry.find(({ registryId }) => registryId === text)?.id ?? id;
  }

  /** The Channel object; undefined for a channel that has no live cast and was not imported. */
  channel(id: string) {
    const casts = this.castsInChannel(id);
    const imported = this.registered(id);
    if (casts.length === 0 && !imported) return undefined;
    const url = imported?.url ?? channelUrl(id);
    const firstCastAt = casts.length === 0 ? null : Math.min(...casts.map(({ at }) => at));
    return {
      object: "channel",
      id,
      url,
      parent_url: url,
      name: imported?.name ?? id,
      image_url: imported?.imageUrl ?? null,
      description: imported?.description ?? null,
      lead: (imported?.leadFid && this.user(imported.leadFid)) || null,
      moderator_fids: imported?.moderatorFids ?? [],
      follower_count: imported?.followerCount ?? 0,
      member_count: new Set(casts.map(({ fid }) => fid)).size,
      created_at: imported?.createdAt ?? firstCastAt,
      pinned_cast_hash: imported?.pinnedCastHash ?? null,
      source: imported ? "import" : "activity",
      ...NOT_REGISTERED,
    };
  }

  channels(ids: Iterable<string>) {
    return [...ids].flatMap((id) => this.channel(id) ?? []);
  }
}

function castIdOf({ fid, hash }: { fid: number; hash: Uint8Array }) {
  return { fid, hash: hexOf(hash) };
}
