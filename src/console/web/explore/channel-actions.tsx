import { useState } from "preact/hooks";
import { type Channel, get } from "../data/call.ts";
import { refreshShown, usePeople, useQuery } from "../data/query.ts";
import { RequestFailure } from "../data/request.ts";
import { type Action, ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { runOperation } from "../owner/operation.ts";
import { type Owner, owner } from "../owner/owner.ts";
import { signed } from "../owner/signed-call.ts";
import { keysOf } from "../owner/wallet/demo-wallet-requests.ts";
import { pageConfig } from "../page-config.ts";
import { Pill } from "../parts/pill.tsx";
import * as msg from "../text/en/channels.ts";
import { shortHex } from "../text/format.ts";

/** What a connected person can do with a registered channel: follow it, and end its parking. */

const NO_SIGNER = "no_signer";
/** How many of the person's newest follows are searched. */
const MAX_FOLLOWS = 100;

/** An action whose message must be signed by a managed signer of the person, and whether there was none. */
function useSignerAction() {
  const action = useAction();
  const [lacksSigner, setLacksSigner] = useState(false);
  return {
    action,
    lacksSigner,
    write(work: () => Promise<string>): Promise<void> {
      return action.run(async () => {
        setLacksSigner(false);
        try {
          return await work();
        } catch (cause) {
          if (!(cause instanceof RequestFailure) || cause.code !== NO_SIGNER) throw cause;
          setLacksSigner(true);
          return undefined;
        }
      });
    },
  };
}

/** Explains how to get a managed signer. On a demo network the person's key can be imported into the node. */
function NoSigner({ action, by: { fid, isDemo } }: { action: Action; by: Owner }) {
  async function importDemoKey() {
    const { signers } = await keysOf(fid);
    await runOperation({
      ...signed("POST /managed_signer/import", { body: { private_key: signers[0]?.privateKey ?? "", fid } }),
      words: msg.theDemoKeyIsImported,
    });
    return msg.theNodeHasTheKeyNow;
  }
  return (
    <div class="stack tight">
      <p class="s">{msg.thisNodeHasNoSignerOfYours}</p>
      <p class="row wrap">
        {isDemo ? (
          <ActionButton action={action} onClick={() => action.run(importDemoKey)}>
            {msg.useTheDemoKey}
          </ActionButton>
        ) : (
          <a class="btn" href="/console/manage/signers">
            {msg.yourSigners}
          </a>
        )}
      </p>
    </div>
  );
}

/** The button that follows or unfollows a channel; for a reader who is not connected, a way to connect. */
export function FollowButton({ channel }: { channel: Channel }) {
  const by = owner.value;
  if (!pageConfig.manage || pageConfig.signers === "off") return null;
  if (by) return <Follow channel={channel} by={by} key={by.fid} />;
  return (
    <a class="btn" href="/console/manage">
      {msg.connectToFollow}
    </a>
  );
}

function Follow({ channel, by }: { channel: Channel; by: Owner }) {
  const { action, lacksSigner, write } = useSignerAction();
  const follows = useQuery(get("/user/channel/follows", { fid: by.fid, limit: MAX_FOLLOWS }));
  const [changed, setChanged] = useState<boolean>();
  const isListed = follows.data?.channels.some(({ id }) => id === channel.id) ?? false;
  const isFollowing = changed ?? isListed;
  const toggle = () =>
    write(async () => {
      const { state } = await runOperation({
        ...signed("PUT /user/channel/follow", { body: { channel_id: channel.id, following: !isFollowing } }),
        words: isFollowing ? msg.unfollowTheChannel(channel.name) : msg.followTheChannel(channel.name),
      });
      setChanged(!isFollowing);
      refreshShown();
      if (state === "queued") return msg.itIsOnItsWay;
      return isFollowing ? msg.youNoLongerFollow : msg.youFollowNow;
    });
  return (
    <div class="stack tight" data-follow={isFollowing}>
      <ActionButton action={action} kind={isFollowing ? "" : "go"} onClick={toggle}>
        {isFollowing ? msg.unfollow : msg.follow}
      </ActionButton>
      {lacksSigner && <NoSigner action={action} by={by} />}
      <Outcome action={action} />
    </div>
  );
}

/** Explains what a parked channel waits for, with the button with which the owner of the address ends the parking. */
export function Parked({ channel }: { channel: Channel }) {
  const by = owner.value;
  const { owner_address: address, owner: channelOwner } = channel;
  if (address === null || channelOwner?.state !== "unverified") return null;
  return (
    <section class="card pad stack" aria-label={msg.parked} data-parked>
      <p>
        <Pill kind="warn">{msg.parked}</Pill>{" "}
        {msg.verifyTheAddressAgain(
          <span class="mono" title={address}>
            {shortHex(address)}
          </span>,
        )}
      </p>
      {by ? (
        <VerifyAgain address={address} by={by} key={by.fid} />
      ) : (
        pageConfig.manage && (
          <p class="row wrap">
            <span class="grow s">{msg.ifItIsYours}</span>
            <a class="btn" href="/console/manage">
              {msg.connectToVerify}
            </a>
          </p>
        )
      )}
    </section>
  );
}

function VerifyAgain({ address, by }: { address: string; by: Owner }) {
  const { action, lacksSigner, write } = useSignerAction();
  const user = usePeople([by.fid]).get(by.fid);
  const isKnown = by.address === address || (user?.verifications.includes(address) ?? false);
  const verify = () =>
    write(async () => {
      const { signClaim } = await import("../owner/wallet/wallet-claim.ts");
      const body = await signClaim(by, address);
      const { state } = await runOperation({
        ...signed("POST /user/address/verify", { body }),
        words: msg.theAddressSignsTheClaim(shortHex(address), by.fid),
      });
      refreshShown();
      return state === "queued" ? msg.itIsOnItsWay : msg.theAddressIsVerified;
    });
  return (
    <div class="stack tight">
      <p class="row wrap">
        <span class="grow s">{isKnown ? msg.youHaveVerifiedItBefore : msg.ifItIsYours}</span>
        <ActionButton action={action} kind="go" onClick={verify}>
          {msg.verifyAgain}
        </ActionButton>
      </p>
      {lacksSigner && <NoSigner action={action} by={by} />}
      <Outcome action={action} />
    </div>
  );
}
