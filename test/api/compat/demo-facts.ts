/** Data of the demo network, read under the native prefix, whose responses other tests verify. */

interface DemoUser {
  readonly fid: number;
  readonly username: string;
  readonly custody_address: string;
  readonly profile: { readonly location: { readonly latitude: number; readonly longitude: number } | null };
  readonly verified_addresses: { readonly eth_addresses: string[]; readonly sol_addresses: string[] };
  readonly verified_accounts: { readonly platform: string; readonly username: string }[];
  readonly follower_count: number;
}

interface DemoCast {
  readonly hash: string;
  readonly parent_hash: string | null;
  readonly parent_author: { readonly fid: number | null };
  readonly author: DemoUser;
  readonly text: string;
  readonly embeds: { readonly url?: string; readonly cast_id?: { readonly hash: string } }[];
  readonly reactions: { readonly likes_count: number; readonly recasts_count: number };
  readonly replies: { readonly count: number };
  readonly channel: { readonly id: string; readonly parent_url: string } | null;
}

/** Users and casts with all optional parts of a response. */
export type DemoFacts = Awaited<ReturnType<typeof readDemoFacts>>;

export async function readDemoFacts(url: string) {
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
  async function get(path: string): Promise<any> {
    const response = await fetch(`${url}/v2/svc${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }
  const fids = Array.from({ length: 200 }, (_, at) => at + 1);
  const users: DemoUser[] = (await get(`/user/bulk?fids=${fids}`)).users;
  const casts: DemoCast[] = [];
  for (const fid of fids.slice(0, 60))
    casts.push(...(await get(`/feed/user/casts?fid=${fid}&limit=100`)).casts);

  async function firstFid(path: string, key: string): Promise<number> {
    for (const fid of fids) if ((await get(`${path}${fid}`))[key].length > 0) return fid;
    throw new Error(`no user has ${path}`);
  }
  const first = <T>(items: readonly T[], what: string, is: (item: T) => boolean): T => {
    const found = items.find(is);
    if (found === undefined) throw new Error(`the demo network has no ${what}`);
    return found;
  };
  const byFollowers = users.toSorted((a, b) => b.follower_count - a.follower_count);
  const quoting = first(casts, "quote", ({ embeds }) => embeds.some(({ cast_id }) => cast_id !== undefined));
  const inChannel = first(
    casts,
    "cast in a channel",
    ({ channel, parent_hash }) => channel !== null && !parent_hash,
  );
  return {
    known: byFollowers[0] ?? fail(),
    viewer: byFollowers[5] ?? fail(),
    onX: first(users, "X account", (user) => user.verified_accounts.some(({ platform }) => platform === "x")),
    located: first(users, "location", ({ profile }) => profile.location !== null),
    solana: first(users, "Solana address", (user) => user.verified_addresses.sol_addresses.length > 0),
    verified: first(users, "address", (user) => user.verified_addresses.eth_addresses.length > 0),
    thread: first(
      casts,
      "thread",
      (cast) => !cast.parent_hash && cast.replies.count > 1 && cast.reactions.likes_count > 0,
    ),
    reply: first(
      casts,
      "reply",
      ({ parent_author, author }) => parent_author.fid !== null && parent_author.fid !== author.fid,
    ),
    recasted: first(
      casts,
      "recast",
      (cast) => cast.reactions.recasts_count > 0 && cast.reactions.likes_count > 0,
    ),
    quoted: quoting.embeds.find(({ cast_id }) => cast_id)?.cast_id?.hash ?? fail(),
    inChannel: { cast: inChannel, ...(inChannel.channel ?? fail()) },
    blocker: await firstFid("/block/list?fid=", "users"),
    muter: await firstFid("/mute/list?fid=", "users"),
    signer: String((await get("/onchain/signers?fid=3")).events[0].signer_key),
  };
}

function fail(): never {
  throw new Error("the demo network is empty");
}
