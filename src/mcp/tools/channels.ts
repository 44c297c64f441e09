import { Type } from "@sinclair/typebox";
import { ChannelRecord, channelRecord, type NativeChannel } from "../records.ts";
import { Cursor, collect, type Page, paging, tool } from "../tool.ts";

export const channelTools = [
  tool({
    name: "list_channels",
    title: "List channels",
    description: "Lists channels, or those whose id or name matches q.",
    input: { q: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })), ...paging },
    output: { channels: Type.Array(ChannelRecord), cursor: Cursor },
    list: "channels",
    isPaged: true,
    async run({ q, ...page }, context) {
      const path = q === undefined ? "/channel/all" : "/channel/search";
      const { rows, cursor } = await collect(page, async (asked) => {
        const read = await context.get<Page<"channels", NativeChannel>>(path, { q, ...asked });
        return [read.channels, read.next.cursor];
      });
      return { channels: rows.map(channelRecord), cursor, truncated: false, content_is_untrusted: true };
    },
  }),
  tool({
    name: "get_channel",
    title: "Get a channel",
    description: "Returns a channel by its id, or by its parent URL.",
    input: { id: Type.String({ minLength: 1, maxLength: 1024 }) },
    output: { channel: ChannelRecord },
    async run({ id }, context) {
      const type = /^[a-z]+:\/\//.test(id) ? "parent_url" : "id";
      const { channel } = await context.get<{ channel: NativeChannel }>("/channel", { id, type });
      return { channel: channelRecord(channel), truncated: false, content_is_untrusted: true };
    },
  }),
];
