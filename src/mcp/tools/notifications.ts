import { type Static, Type } from "@sinclair/typebox";
import { isoTime } from "../../lib/iso-time.ts";
import { CastRecord, castRecord, type NativeCast, type NativeUser } from "../records.ts";
import { Cursor, collect, Fid, type Page, paging, tool } from "../tool.ts";

const MAX_NAMED_FIDS = 25;

interface NativeNotification {
  readonly type: string;
  readonly most_recent_timestamp: number;
  readonly count?: number;
  readonly cast?: NativeCast | null;
  readonly reactions?: readonly { readonly user: Pick<NativeUser, "fid"> }[];
  readonly follows?: readonly { readonly user: Pick<NativeUser, "fid"> }[];
}

const Notification = Type.Object(
  {
    type: Type.String(),
    at: Type.String(),
    count: Type.Integer(),
    by_fids: Type.Array(Type.Integer(), { description: `At most ${MAX_NAMED_FIDS}` }),
    cast: Type.Union([CastRecord, Type.Null()]),
  },
  { additionalProperties: false },
);

export const notificationTools = [
  tool({
    name: "get_notifications",
    title: "Get notifications of a user",
    description:
      "Lists replies, mentions, quotes, reactions and follows that concern fid, grouped, the newest first. Types is a filter on what is found: a page may be short while its cursor is not null.",
    input: {
      fid: Fid,
      types: Type.Optional(
        Type.Array(
          Type.Union(
            (["follow", "reaction", "mention", "reply", "quote"] as const).map((type) => Type.Literal(type)),
          ),
          { minItems: 1, maxItems: 5, uniqueItems: true },
        ),
      ),
      ...paging,
    },
    output: { notifications: Type.Array(Notification), cursor: Cursor },
    list: "notifications",
    isPaged: true,
    async run({ fid, types, ...page }, context) {
      const kept: ReadonlySet<string> | undefined = types && new Set(types);
      const { rows, cursor } = await collect(
        page,
        async (asked) => {
          const path = "/notifications";
          const read = await context.get<Page<"notifications", NativeNotification>>(path, { fid, ...asked });
          return [read.notifications, read.next.cursor];
        },
        ({ type }) => kept?.has(type) ?? true,
      );
      const notifications = rows.map((one): Static<typeof Notification> => {
        const people = [...(one.reactions ?? []), ...(one.follows ?? [])].map(({ user }) => user.fid);
        const named = people.length > 0 || !one.cast ? people : [one.cast.author.fid];
        return {
          type: one.type,
          at: isoTime(one.most_recent_timestamp),
          count: one.count ?? 1,
          by_fids: [...new Set(named)].slice(0, MAX_NAMED_FIDS),
          cast: one.cast ? castRecord(one.cast, context) : null,
        };
      });
      return { notifications, cursor, truncated: false, content_is_untrusted: true };
    },
  }),
];
