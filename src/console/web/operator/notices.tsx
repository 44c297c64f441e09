import type { ChannelsReport, NoticeChanged } from "../../../notices/report.ts";
import { useQuery } from "../data/query.ts";
import { type ChannelChanges, Channels } from "../notices/channels.tsx";
import { Region } from "../parts/region.tsx";
import * as msg from "../text/en/operator/notices.ts";
import { operatorChange, operatorRead, operatorRequest } from "./session.ts";

const EVERY_MS = 15_000;

const change = (body: object) => operatorRequest<NoticeChanged>(operatorChange("notice", body));

const CHANGES: ChannelChanges = {
  add: async (terms, target) =>
    (await change({ action: "add", channel: { ...terms, ...target } })).secret ?? undefined,
  edit: ({ id }, terms) => change({ action: "edit", id, ...terms }),
  remove: ({ id }) => change({ action: "remove", id }),
  test: ({ id }) => change({ action: "test", id }),
  pushKey: async () => (await change({ action: "key" })).push_key ?? "",
};

/** The channels of notices of the operator. */
export function NoticesCard({ mayChange }: { mayChange: boolean }) {
  const query = useQuery(operatorRead<ChannelsReport>("/notices"), {
    send: operatorRequest,
    everyMs: EVERY_MS,
  });
  return (
    <Region title={msg.notices} call={undefined} query={query}>
      {({ channels, checks, push }) => (
        <Channels
          checks={checks}
          channels={channels}
          isPushOn={push}
          severity="critical"
          changes={mayChange ? CHANGES : undefined}
          words={msg.whatNoticesAre}
          onChanged={() => query.refresh()}
        />
      )}
    </Region>
  );
}
