import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Face } from "../content/face.tsx";
import { Icon } from "../icons/icons.tsx";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import { Checkbox } from "../parts/form.tsx";
import { focusHeading } from "../parts/page-head.tsx";
import { Command } from "../parts/raw-text.tsx";
import { Card, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/manage/owner.ts";
import { displayNameOf, handleOf } from "../text/name.ts";
import { UserName } from "../text/user-text.tsx";
import { ActionButton, Outcome, useAction } from "./action.tsx";
import {
  askForAccounts,
  attachWallet,
  becomeOwner,
  type Identity,
  startSession,
  walletNote,
} from "./connection.ts";
import { hasSessionEnded, isOwnerKnown, noSessionReason, type Owner, owner } from "./owner.ts";
import { restoreOwner } from "./restore-owner.ts";
import { discoverWallets, offeredWallets, type Wallet } from "./wallet/wallets.ts";

const FIRST_LOOK_MS = 400;

function WalletRow({ wallet, isBusy, onChoose }: { wallet: Wallet; isBusy: boolean; onChoose: () => void }) {
  return (
    <button type="button" class="btn wallet" aria-disabled={isBusy} onClick={onChoose}>
      {wallet.icon === undefined ? (
        <Icon name="wallet" size={20} />
      ) : (
        <img src={wallet.icon} alt="" width={20} height={20} />
      )}
      <span class="grow">{wallet.name}</span>
    </button>
  );
}

function IdentityRow({ identity, onChoose }: { identity: Identity; onChoose: () => void }) {
  const { user, address } = identity;
  return (
    <button type="button" class="btn wallet" onClick={onChoose}>
      <Face user={user} size={2} />
      <span class="grow">
        <UserName name={displayNameOf(user)} /> <span class="dim">{handleOf(user)}</span>
        <span class="xs mono dim line">{address}</span>
      </span>
      <span class="dim">{msg.fid(user.fid)}</span>
    </button>
  );
}

/** The choice of a wallet in this browser, and of the fid if its accounts own several. */
function ConnectPanel() {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [choice, setChoice] = useState<{ wallet: Wallet; identities: readonly Identity[] }>();
  const [hasLooked, setLooked] = useState(false);
  // Most wallets announce themselves at once, so they are there at the first render.
  useLayoutEffect(() => {
    discoverWallets();
    // The landing page of a demo network links here: its wallet immediately asks which person to act as.
    const demo = offeredWallets().find(({ isDemo }) => isDemo);
    if (demo && new URLSearchParams(location.search).has("demo")) {
      // Only once, so that after "Sign out" the wallet does not ask again.
      history.replaceState(history.state, "", location.pathname);
      void choose(demo);
    }
    const timer = setTimeout(() => setLooked(true), FIRST_LOOK_MS);
    return () => clearTimeout(timer);
  }, []);
  const wallets = offeredWallets();

  async function become(wallet: Wallet, identity: Identity) {
    await becomeOwner(wallet, identity);
    focusHeading();
  }
  async function choose(wallet: Wallet) {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    setChoice(undefined);
    try {
      const identities = await askForAccounts(wallet);
      const [only] = identities;
      if (only && identities.length === 1) await become(wallet, only);
      else setChoice({ wallet, identities });
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : String(cause));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div class="split">
      <Card title={msg.connectYourWallet}>
        <p class="measure">{msg.miniAppsWebhooksKeysAndSigners}</p>
        {walletNote.value && <p role="status">{walletNote.value}</p>}
        {wallets.map((wallet) => (
          <WalletRow
            key={wallet.id + wallet.name}
            wallet={wallet}
            isBusy={isBusy}
            onChoose={() => void choose(wallet)}
          />
        ))}
        {wallets.length === 0 && hasLooked && <p role="status">{msg.thisBrowserHasNoWalletWithout}</p>}
        {isBusy && (
          <p role="status" class="s dim">
            {msg.confirmInYourWallet}
          </p>
        )}
        {choice && (
          <fieldset>
            <legend>{msg.yourAccountsOwnSeveralFidsWhich}</legend>
            {choice.identities.map((identity) => (
              <IdentityRow
                key={identity.user.fid}
                identity={identity}
                onChoose={() => void become(choice.wallet, identity)}
              />
            ))}
          </fieldset>
        )}
        {problem !== undefined && (
          <p class="failure" role="alert">
            {problem}
          </p>
        )}
      </Card>
      <OtherWays />
    </div>
  );
}

const { service, demo } = pageConfig;

/** Alternatives for people whose custody address is not in a wallet of this browser. */
function OtherWays() {
  const command = `${service} app list --url ${nodeOrigin} --fid 3 --key-file custody.key`;
  return (
    <Card title={msg.withoutAWalletHere}>
      <div>
        <h3>{msg.tryItAsADemoPerson}</h3>
        {demo ? (
          <p>{msg.thisNodeIsADemoNetwork}</p>
        ) : (
          <p>{msg.aNodeStartedWithLendsYou(<code>{service} serve --demo</code>)}</p>
        )}
      </div>
      <div class="stack tight">
        <h3>{msg.useTheCommandLineWhereYour}</h3>
        <p>{msg.everythingHereIsACommandAs}</p>
        <Command text={command} />
      </div>
      <details>
        <summary>{msg.myCustodyAddressIsInsideA}</summary>
        <p>{msg.mostAppsMakeTheCustodyAddress}</p>
      </details>
    </Card>
  );
}

/** Offers a session to an owner without one. The page below does not change. */
function SessionOffer() {
  const [canOperate, setCanOperate] = useState(true);
  const action = useAction();
  const reason = noSessionReason();
  if (reason !== undefined)
    return (
      <p class="card pad" role="status">
        {msg.soEachRequestAsksYourWallet(reason)}
      </p>
    );
  const start = () =>
    action.run(async () => {
      await startSession(canOperate ? "operate" : "read");
      focusHeading();
      return undefined;
    });
  return (
    <Card title={hasSessionEnded.value ? msg.yourSessionHasEnded : msg.signInOnce}>
      <p class="measure">{msg.yourWalletSignsOnceForA}</p>
      <div class="checks">
        <Checkbox checked={canOperate} onChange={setCanOperate}>
          {msg.alsoTestWebhooksReplayDeliveries}
        </Checkbox>
      </div>
      <div class="row wrap">
        <ActionButton action={action} kind="go" onClick={start}>
          {hasSessionEnded.value ? msg.startASessionAgain : msg.startASession}
        </ActionButton>
        <span class="s dim">{msg.oneWalletSignature}</span>
      </div>
      <Outcome action={action} />
    </Card>
  );
}

/**
 * Shows its children to a connected owner, and the way to connect to other visitors. Without a session it offers one above them. They
 * stay mounted when a session ends, so that no form loses its text.
 */
export function OwnerOnly({ children }: { children: (current: Owner) => ComponentChildren }) {
  const current = owner.value;
  useEffect(() => void restoreOwner().then(attachWallet), [current?.fid]);
  if (!current) return isOwnerKnown.value ? <ConnectPanel /> : <Skeleton />;
  return (
    <div class="stack" key={current.fid}>
      {walletNote.value && (
        <p class="card pad" role="status">
          {walletNote.value}
        </p>
      )}
      {!current.session && <SessionOffer />}
      {children(current)}
    </div>
  );
}
