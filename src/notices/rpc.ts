import type { SigningOwner } from "../auth/verify.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Actor, recordChange } from "../management/owned-service.ts";
import type { Clock } from "../runtime/clock.ts";
import type { AddedChannel, NotAdded } from "./channels.ts";
import type { Notices } from "./notices.ts";
import type { ChannelReport, ChannelRequest, ChannelsReport, ChannelTerms, NoticeChanged } from "./report.ts";

/** A change by the operator. `key` creates the key that browsers subscribe with. */
export type NoticeChange =
  | { readonly action: "key" }
  | { readonly action: "add"; readonly channel: ChannelRequest }
  | ({ readonly action: "edit"; readonly id: string } & ChannelTerms)
  | { readonly action: "remove" | "test"; readonly id: string };

/** A change of a channel by its owner. */
export type OwnChannelChange =
  | { readonly action: "update"; readonly id: string; readonly terms: ChannelTerms }
  | { readonly action: "delete" | "test"; readonly id: string };

/** The owner who requests a change, and the custody address that authorized it. */
export type OwnerActor = Actor & SigningOwner;

/** Methods of the main thread for the operator's page. */
export interface NoticesRpc extends OwnersRpc {
  noticeChannels(): Promise<ChannelsReport>;
  /** The error is a full sentence, or null if the channel does not exist. */
  changeNotices(change: NoticeChange): Promise<Result<NoticeChanged, string | null>>;
}

/** Methods of the main thread for owners. Each change adds its audit log entry in the same transaction. */
export interface OwnersRpc {
  /** `pushKey` is null if the node does not send to browsers. */
  ownChannels(
    owner: SigningOwner,
  ): Promise<{ readonly channels: readonly ChannelReport[]; readonly pushKey: string | null }>;
  addOwnChannel(actor: OwnerActor, request: ChannelRequest): Promise<Result<AddedChannel, NotAdded>>;
  /** Returns the channel for an update. The error is a full sentence, or null if the owner does not have this channel. */
  changeOwnChannel(
    actor: OwnerActor,
    change: OwnChannelChange,
  ): Promise<Result<ChannelReport | null, string | null>>;
}

export interface NoticesRpcOptions {
  /** `notify.max_channels_per_owner`. */
  readonly maxOfOwner: () => number;
  readonly clock: Clock;
}

export function noticesRpc(notices: Notices, { maxOfOwner, clock }: NoticesRpcOptions): NoticesRpc {
  const own = ({ fid, custody }: SigningOwner) =>
    notices.channelsOf({ ownerFid: fid, custody, maxChannels: maxOfOwner() });
  const auditOf = (action: string, actor: OwnerActor) => (id: string) =>
    recordChange(`notice_channel.${action}`, actor, id, clock);
  return {
    noticeChannels: () => notices.report(),
    async changeNotices(change) {
      switch (change.action) {
        case "key":
          return ok({ push_key: await notices.pushKey() });
        case "add": {
          const added = await notices.add(change.channel);
          if (!added.ok) return err(added.error.message);
          const { id, secret } = added.value;
          return ok({ id, secret });
        }
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
    ownChannels: async (owner) => ({
      channels: await own(owner).list(),
      pushKey: notices.hasPush() ? await notices.pushKey() : null,
    }),
    addOwnChannel: (actor, request) => own(actor).add(request, auditOf("create", actor)),
    async changeOwnChannel(actor, change) {
      const { id } = change;
      const channels = own(actor);
      switch (change.action) {
        case "update":
          return channels.edit(id, change.terms, auditOf("update", actor));
        case "delete":
          return (await channels.remove(id, auditOf("delete", actor))) ? ok(null) : err(null);
        case "test":
          if (!(await channels.test(id, auditOf("test", actor)))) return err(null);
          void notices.run();
          return ok(null);
      }
    },
  };
}
