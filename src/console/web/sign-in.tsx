import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { request } from "./data/request.ts";
import { signText } from "./owner/wallet/sign-text.ts";
import {
  connectedAddress,
  DemoForm,
  type PreparedSignatures,
  signApproval,
  useSigning,
  WalletButtons,
} from "./owner/wallet/signing-page.tsx";
import { offeredWallets, type Wallet, type WalletProvider } from "./owner/wallet/wallets.ts";
import { deliver, type LoginResult, type Opener, openerOf } from "./sign-in/sign-in-result.ts";
import * as msg from "./text/en/outside/sign-in.ts";

interface Person {
  readonly fid: number;
  readonly username: string;
}

/** The response after a signature, or for a login that needs nothing more. */
interface SignedIn {
  readonly fid: number;
  readonly username: string;
  readonly redirect_url?: string | null;
  readonly result?: LoginResult;
  /** A signer that needs its user's approval: the link for that, and the token with which to request the result. */
  readonly approval?: { readonly token: string; readonly visit: string };
}

interface Connected {
  readonly provider: WalletProvider;
  readonly address: string;
  readonly people: readonly Person[];
}

const post = <T,>(path: string, body: unknown) => request<T>({ method: "POST", path, body });

const nameOf = ({ fid, username }: Person) =>
  username === "" ? msg.fid(fid) : msg.nameAndFid(username, fid);

/** Lets a wallet approve the signer of a login, in the same visit. */
async function approve(provider: WalletProvider, address: string, token: string): Promise<void> {
  const prepared = await post<PreparedSignatures>(`/approve/${token}/prepare`, { address });
  await post(`/approve/${token}/submit`, await signApproval(provider, address, prepared));
}

interface SignInProps {
  /** The base path of the page's calls. */
  readonly base: string;
  readonly isLogin: boolean;
  readonly isDemo: boolean;
  readonly opener: Opener;
}

/** Connects a wallet, lets it sign the node's message, and passes the result to the app. */
function SignIn({ base, isLogin, isDemo, opener }: SignInProps) {
  const { message, setMessage, isBusy, attempt, hasLooked } = useSigning();
  const [done, setDone] = useState<SignedIn>();
  const [connected, setConnected] = useState<Connected>();
  /** Whether the domain is that of a manifest; a channel without one asks twice. */
  const [isKnown, setKnown] = useState(isLogin);
  const [warned, setWarned] = useState<number>();
  useEffect(() => {
    if (!isLogin) void askDomain();
  }, []);

  async function askDomain(): Promise<void> {
    const { belongs_to: owner } = await post<{ belongs_to: Person | null }>(`${base}/domain`, {}).catch(
      () => ({ belongs_to: null }),
    );
    if (!owner) return;
    setKnown(true);
    const claim = document.getElementById("domain-claim");
    if (claim) claim.textContent = msg.theDomainBelongsTo(nameOf(owner));
  }

  async function connect(wallet: Wallet): Promise<void> {
    setMessage({ text: msg.waitingForTheWallet });
    const address = await connectedAddress(wallet);
    const { people } = await post<{ people: readonly Person[] }>(`${base}/people`, { address });
    if (people.length === 0) throw new Error(msg.thisAddressMaySignInAsNobody);
    setConnected({ provider: wallet.provider, address, people });
    setMessage(undefined);
  }

  /** Continues after the first signature: with the key, for a login that asks for one, then with the result for the app. */
  async function finish(signed: SignedIn, approveWith: (token: string) => Promise<void>): Promise<void> {
    let { result } = signed;
    if (signed.approval) {
      setMessage({ text: msg.waitingForTheKey });
      await approveWith(signed.approval.token);
      ({ result } = await post<{ result: LoginResult }>(`${base}/finish`, {
        visit: signed.approval.visit,
        ...opener.request,
      }));
    }
    setDone(signed);
    setMessage({ text: msg.signedInAs(nameOf(signed)), tone: "ok" });
    if (result) deliver(result, opener);
  }

  /** For an unknown domain, the person is asked once more. */
  function mayContinue(fid: number): boolean {
    if (isKnown || warned === fid) return true;
    setWarned(fid);
    setMessage({ text: msg.pressAgainIfYouOpened });
    return false;
  }

  async function signAs({ provider, address }: Connected, { fid }: Person): Promise<void> {
    if (!mayContinue(fid)) return;
    const { message: text } = await post<{ message: string }>(`${base}/message`, { address, fid });
    setMessage({ text: msg.waitingForTheWallet });
    const signature = await signText(provider, address, text);
    setMessage({ text: msg.sending });
    const signed = await post<SignedIn>(`${base}/submit`, { message: text, signature, ...opener.request });
    await finish(signed, (token) => approve(provider, address, token));
  }

  async function signAsDemo(fid: number): Promise<void> {
    if (!mayContinue(fid)) return;
    const signed = await post<SignedIn>(`${base}/demo`, { fid, ...opener.request });
    await finish(signed, (token) => post(`/approve/${token}/demo`, { fid }));
  }

  if (done)
    return (
      <>
        <p class="outcome" role="status" data-tone="ok">
          {message?.text} {msg.youCanCloseThisPage}
        </p>
        {done.redirect_url && (
          <a class="btn go" rel="noreferrer" href={done.redirect_url}>
            {msg.backToTheApp}
          </a>
        )}
      </>
    );
  const isWithout = hasLooked && offeredWallets().length === 0 && !isDemo && !connected;
  const note = message ?? (isWithout ? { text: msg.noWalletWasFound } : undefined);
  return (
    <>
      {connected?.people.map((person) => (
        <button
          type="button"
          class="btn go"
          key={person.fid}
          aria-disabled={isBusy}
          onClick={() => attempt(() => signAs(connected, person))}
        >
          {warned === person.fid ? msg.iOpenedThisSignInAs(nameOf(person)) : msg.signInAs(nameOf(person))}
        </button>
      ))}
      {!connected && <WalletButtons isBusy={isBusy} onChoose={(wallet) => attempt(() => connect(wallet))} />}
      {isDemo && !connected && (
        <DemoForm
          words={msg.thisIsADemoNetwork}
          action={(fid) => (warned === fid ? msg.iOpenedThisSignIn : msg.signInAsThisPerson)}
          isBusy={isBusy}
          onSign={(fid) => attempt(() => signAsDemo(fid))}
        />
      )}
      <p class="outcome" role="status" data-tone={note?.tone}>
        {note?.text}
      </p>
    </>
  );
}

// The page of an invalid link has no such element.
const root = document.getElementById("sign-in");
if (root) {
  const { base = "", kind, demo } = root.dataset;
  const opener = openerOf(root.dataset);
  root.replaceChildren();
  render(<SignIn base={base} isLogin={kind === "login"} isDemo={demo !== undefined} opener={opener} />, root);
}
