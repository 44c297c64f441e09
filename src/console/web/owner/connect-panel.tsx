import { useLayoutEffect, useState } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { Face } from "../parts/face.tsx";
import { focusHeading } from "../parts/page-head.tsx";
import { displayNameOf, handleOf } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { askForAccounts, becomeOwner, type Identity, walletNote } from "./connection.ts";
import { OtherWays } from "./other-ways.tsx";
import { discoverWallets, offeredWallets, type Wallet } from "./wallets.ts";

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
      <span class="dim">fid {user.fid}</span>
    </button>
  );
}

/** Chooses a wallet of this browser, and the fid where its accounts own several. */
export function ConnectPanel() {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [choice, setChoice] = useState<{ wallet: Wallet; identities: readonly Identity[] }>();
  const [hasLooked, setLooked] = useState(false);
  // Most wallets announce themselves at once: they are there when the panel is first drawn.
  useLayoutEffect(() => {
    discoverWallets();
    // The landing page of a demo network leads here: its wallet asks at once which person to act as.
    const demo = offeredWallets().find(({ isDemo }) => isDemo);
    if (demo && new URLSearchParams(location.search).has("demo")) {
      // Once: after "Leave" the wallet does not ask again.
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
      <section class="card">
        <header>
          <h2 class="grow">Connect your wallet</h2>
        </header>
        <div class="pad stack">
          <p class="measure">
            Mini apps, webhooks, keys and signers belong to an fid. Whoever has its custody address manages
            them: no account, no password. Connecting shows this page your address and signs nothing.
          </p>
          {walletNote.value && <p role="status">{walletNote.value}</p>}
          {wallets.map((wallet) => (
            <WalletRow
              key={wallet.id + wallet.name}
              wallet={wallet}
              isBusy={isBusy}
              onChoose={() => void choose(wallet)}
            />
          ))}
          {wallets.length === 0 && hasLooked && (
            <p role="status">This browser has no wallet. “Without a wallet here” has other ways.</p>
          )}
          {isBusy && (
            <p role="status" class="s dim">
              Your wallet asks you now.
            </p>
          )}
          {choice && (
            <fieldset>
              <legend>Your accounts own several fids. Which one?</legend>
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
        </div>
      </section>
      <OtherWays />
    </div>
  );
}
