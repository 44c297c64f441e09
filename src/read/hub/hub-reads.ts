import type { IndexDatabase } from "../../db/index/database.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type AccountReads, createAccountReads } from "./account-reads.ts";
import { type ChainReads, createChainReads } from "./chain-reads.ts";
import { type ChannelLists, createChannelLists } from "./channels/channel-lists.ts";
import { type ChannelReads, createChannelReads } from "./channels/channel-reads.ts";
import { createReadScope, type ReadContext } from "./context.ts";
import { createEventReads, type EventReads } from "./event-reads.ts";
import { createKeyReads, type KeyReads } from "./key-reads.ts";
import { CastMessages } from "./lists/cast-sources.ts";
import { createMessageLists, type MessageLists } from "./lists/message-lists.ts";
import { createMessageReads, type MessageReads } from "./lists/single-messages.ts";
import { createListRunner } from "./turns.ts";

export interface HubReadDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** The fids that the node follows; undefined for all. */
  readonly followed?: ReadonlySet<number> | undefined;
  /** Reports whether the index has been filled once from the upstream. Default: the node follows none. */
  readonly isFilled?: (() => boolean) | undefined;
}

/** The reads of a hub. Messages and events are returned as received, byte for byte. */
export interface HubReads
  extends MessageReads,
    MessageLists,
    ChainReads,
    KeyReads,
    AccountReads,
    EventReads,
    ChannelReads,
    ChannelLists {
  /** Whether lists over all fids contain only those of the fids that the node follows. */
  readonly isPartial: boolean;
  /** Reports whether the index has been filled once from the upstream; always true for a standalone node. */
  readonly isFilled: () => boolean;
}

export function createHubReads({ db, network, clock, followed, isFilled }: HubReadDeps): HubReads {
  const context: ReadContext = {
    db,
    network,
    clock,
    casts: new CastMessages(),
    scope: createReadScope(db, followed),
    lists: createListRunner(),
    isFilled: isFilled ?? (() => true),
  };
  return {
    isPartial: context.scope.isPartial,
    isFilled: context.isFilled,
    ...createMessageReads(context),
    ...createMessageLists(context),
    ...createChainReads(context),
    ...createKeyReads(context),
    ...createAccountReads(context),
    ...createEventReads(context),
    ...createChannelReads(context),
    ...createChannelLists(context),
  };
}
