import { type Static, Type } from "@sinclair/typebox";
import { isoTime } from "../../lib/iso-time.ts";
import { ToolError } from "../node-call.ts";
import { type NativeCast, type NativeUser, UserRecord, userRecord } from "../records.ts";
import { Cursor, collect, Fid, type Page, paging, type ToolContext, tool } from "../tool.ts";

const RECENT_CASTS = 5;
const Profile = Type.Object(
  {
    ...UserRecord.properties,
    verified_addresses: Type.Array(Type.String()),
    since: Type.Union([Type.String(), Type.Null()]),
    recent_cast_times: Type.Array(Type.String()),
  },
  { additionalProperties: false },
);

const PATHS = {
  followers: "/user/followers",
  following: "/user/following",
  mutual: "/followers/reciprocal",
  suggested: "/following/suggested",
} as const;

const Between = Type.Object(
  { mentions: Type.Integer(), reactions: Type.Integer() },
  { additionalProperties: false },
);

export const userTools = [
  tool({
    name: "get_user",
    title: "Get a user",
    description:
      "Returns the profile, verified addresses, counts and last cast times of one user, by exactly one of fid, username or address. An address may belong to several users.",
    input: {
      fid: Type.Optional(Fid),
      username: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      address: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: "A verified Ethereum or Solana address" }),
      ),
    },
    output: { users: Type.Array(Profile) },
    list: "users",
    async run({ fid, username, address }, context) {
      if ([fid, username, address].filter((one) => one !== undefined).length !== 1)
        throw new ToolError("give exactly one of fid, username and address");
      const users =
        address === undefined
          ? [await oneUser(context, fid, username)]
          : (
              await context.get<{ users: readonly NativeUser[] }>("/user/bulk-by-address", {
                addresses: address,
              })
            ).users;
      const profiles: Static<typeof Profile>[] = [];
      for (const user of users.slice(0, paging.limit.maximum)) profiles.push(await profileOf(user, context));
      return { users: profiles, truncated: false, content_is_untrusted: true };
    },
  }),
  tool({
    name: "search_users",
    title: "Search users",
    description: "Finds users whose username or display name begins with the text, or is near it.",
    input: { q: Type.String({ minLength: 1, maxLength: 256 }), ...paging },
    output: { users: Type.Array(UserRecord), cursor: Cursor },
    list: "users",
    isPaged: true,
    run: ({ q, ...page }, context) => userPage("/user/search", { q }, page, context),
  }),
  tool({
    name: "get_relations",
    title: "Get relations of users",
    description:
      "Lists followers, followed users, mutual follows or suggested follows of fid; or, with kind between, counts what fid and other_fid have to do with each other.",
    input: {
      kind: Type.Union(
        (["followers", "following", "mutual", "suggested", "between"] as const).map((kind) =>
          Type.Literal(kind),
        ),
      ),
      fid: Fid,
      other_fid: Type.Optional(Fid),
      ...paging,
    },
    output: {
      users: Type.Array(UserRecord),
      between: Type.Union([
        Type.Object(
          { mutual_follow: Type.Boolean(), from_fid: Between, from_other_fid: Between },
          { additionalProperties: false },
        ),
        Type.Null(),
      ]),
      cursor: Cursor,
    },
    list: "users",
    isPaged: true,
    async run({ kind, fid, other_fid, ...page }, context) {
      if (kind !== "between") {
        if (other_fid !== undefined) throw new ToolError("other_fid is only for kind between");
        return { ...(await userPage(PATHS[kind], { fid }, page, context)), between: null };
      }
      if (other_fid === undefined) throw new ToolError("kind between needs other_fid");
      const read = async (from: number, to: number) =>
        (await context.get<NativeInteractions>("/user/interactions", { fid: from, target_fid: to }))
          .interactions;
      const [there, back] = [await read(fid, other_fid), await read(other_fid, fid)];
      return {
        users: [],
        between: {
          mutual_follow: there.mutual_follow,
          from_fid: { mentions: there.mentions, reactions: there.reactions },
          from_other_fid: { mentions: back.mentions, reactions: back.reactions },
        },
        cursor: null,
        truncated: false,
        content_is_untrusted: true,
      };
    },
  }),
];

interface NativeInteractions {
  readonly interactions: {
    readonly mentions: number;
    readonly reactions: number;
    readonly mutual_follow: boolean;
  };
}

async function oneUser(context: ToolContext, fid?: number, username?: string): Promise<NativeUser> {
  const [path, query] = fid === undefined ? ["/user/by-username", { username }] : ["/user", { fid }];
  return (await context.get<{ user: NativeUser }>(path, query)).user;
}

async function profileOf(user: NativeUser, context: ToolContext): Promise<Static<typeof Profile>> {
  const { casts } = await context.get<Page<"casts", NativeCast>>("/feed/user/casts", {
    fid: user.fid,
    limit: RECENT_CASTS,
  });
  const { eth_addresses, sol_addresses } = user.verified_addresses;
  return {
    ...userRecord(user, context),
    verified_addresses: [...eth_addresses, ...sol_addresses],
    since: user.registered_at ? isoTime(user.registered_at) : null,
    recent_cast_times: casts.map(({ timestamp }) => isoTime(timestamp)),
  };
}

async function userPage(
  path: string,
  query: Readonly<Record<string, string | number>>,
  page: { readonly limit?: number; readonly cursor?: string },
  context: ToolContext,
) {
  const { rows, cursor } = await collect(page, async (asked) => {
    const { users, next } = await context.get<Page<"users", NativeUser>>(path, { ...query, ...asked });
    return [users, next.cursor];
  });
  return {
    users: rows.map((user) => userRecord(user, context)),
    cursor,
    truncated: false,
    content_is_untrusted: true as const,
  };
}
