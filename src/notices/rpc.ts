import { err, ok, type Result } from "../lib/result.ts";
import type { Notices } from "./notices.ts";
import type { ChannelRequest, ChannelsReport, ChannelTerms, NoticeChanged } from "./report.ts";

/** A change by the operator. `key` makes the key that a browser subscribes with. */
export type NoticeChange =
  | { readonly action: "key" }
  | { readonly action: "add"; readonly channel: ChannelRequest }
  | ({ readonly action: "edit"; readonly id: string } & ChannelTerms)
  | { readonly action: "remove" | "test"; readonly id: string };

/** The methods of the main thread for the operator's page. */
export interface NoticesRpc {
  noticeChannels(): Promise<ChannelsReport>;
  /** An error is a sentence, or null if the channel does not exist. */
  changeNotices(change: NoticeChange): Promise<Result<NoticeChanged, string | null>>;
}

export function noticesRpc(notices: Notices): NoticesRpc {
  return {
    noticeChannels: () => notices.report(),
    async changeNotices(change) {
      switch (change.action) {
        case "key":
          return ok({ push_key: await notices.pushKey() });
        case "add":
          return notices.add(change.channel);
        case "edit": {
          const { id, ...terms } = change;
          const edited = await notices.edit(id, terms);
          return edited.ok ? ok({ id }) : edited;
        }
        case "remove":
          return (await notices.remove(change.id)) ? ok({ id: change.id }) : err(null);
        case "test":
          if (!(await notices.test(change.id))) return err(null);
          void notices.run();
          return ok({ id: change.id });
      }
    },
  };
}
