import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { request } from "./data/request.ts";
import { signText } from "./owner/wallet/sign-text.ts";
import { discoverWallets, offeredWallets, type Wallet, type WalletProvider } from "./owner/wallet/wallets.ts";
import { deliver, type LoginResult, type Opener, openerOf } from "./sign-in/sign-in-result.ts";
import * as msg from "./text/en/sign-in.ts";

interface Person {
  readonly fid: number;
  readonly username: string;
}

/** What a channel says after a signature, or a login that needs nothing more. */
interface SignedIn {
  readonly fid: number;
  readonly username: string;
  readonly redirect_url?: string | null;
  readonly result?: LoginResult;
  /** A signer that waits for its user: the link of its approval, and what to ask for the result with. */
  readonly approval?: { readonly token: string; readonly visit: string };
}

interface TypedData {
  readonly message: Readonly<Record<string, unknown>>;
}

interface PreparedApproval {
  readonly fid: number;
  readonly key_add: TypedData;
  readonly key_request?: TypedData | null;
}

interface Connected {
  readonly provider: WalletProvider;
  readonly address: string;
  readonly people: readonly Person[];
}

interface Message {
  readonly text: string;
  readonly tone?: "ok" | "bad";
}

const ETHEREUM = "0x1";
const DECLINED = 4001;
/** Wallets announce themselves within this time. */
const FIRST_LOOK_MS = 300;
const FIRST_PERSON = 3;

const post = <T,>(path: string, body: unknown) => request<T>({ method: "POST", path, body });

/** Messages of errors begin in lower case and have no full stop. */
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");

function reasonOf(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (code === DECLINED) return msg.nothingWasSigned;
  return typeof message === "string" && message !== "" ? message : msg.theWalletFailed;
}

const nameOf = ({ fid, username }: Person) =>
  username === "" ? msg.fid(fid) : msg.nameAndFid(username, fid);

/** Has a wallet approve the signer of a login, in the same visit. */
async function approve(provider: WalletProvider, address: string, token: string): Promise<void> {
  const prepared = await post<PreparedApproval>(`/approve/${token}/prepare`, { address });
  if ((await provider.request({ method: "eth_chainId" })) !== ETHEREUM)
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: ETHEREUM }] });
  const sign = (data: TypedData) =>
    provider.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(data)] });
  const custody = await sign(prepared.key_add);
  const keyRequest = prepared.key_request ? await sign(prepared.key_request) : undefined;
  await post(`/approve/${token}/submit`, {
    fid: prepared.fid,
    nonce: prepared.key_add.message.nonce,
    deadline: Number(prepared.key_add.message.deadline),
    custody_signature: custody,
    request_signature: keyRequest,
  });
}

interface SignInProps {
  /** Where the page calls. */
  readonly base: string;
  readonly isLogin: boolean;
  readonly isDemo: boolean;
  readonly opener: Opener;
}

/** Connects a wallet, has it sign the message of the node, and gives the app the result. */
function SignIn({ base, isLogin, isDemo, opener }: SignInProps) {
  const [message, setMessage] = useState<Message>();
  const [isBusy, setBusy] = useState(false);
  const [done, setDone] = useState<SignedIn>();
  const [connected, setConnected] = useState<Connected>();
  const [hasLooked, setLooked] = useState(false);
  /** Whether the domain is that of a manifest; a channel without one asks twice. */
  const [isKnown, setKnown] = useState(isLogin);
  const [warned, setWarned] = useState<number>();
  useEffect(() => {
    discoverWallets();
    const timer = setTimeout(() => setLooked(true), FIRST_LOOK_MS);
    if (!isLogin) void askDomain();
    return () => clearTimeout(timer);
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

  /** Runs a step with all buttons off, and shows why it failed. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    setBusy(true);
    try {
      await step();
    } catch (cause) {
      setMessage({ text: sentence(reasonOf(cause)), tone: "bad" });
    } finally {
      setBusy(false);
    }
  }

  async function connect({ provider }: Wallet): Promise<void> {
    setMessage({ text: msg.waitingForTheWallet });
    const accounts = await provider.request({ method: "eth_requestAccounts" });
    const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (typeof address !== "string" || address === "") throw new Error(msg.theWalletGaveNoAddress);
    const { people } = await post<{ people: readonly Person[] }>(`${base}/people`, { address });
    if (people.length === 0) throw new Error(msg.thisAddressMaySignInAsNobody);
    setConnected({ provider, address, people });
    setMessage(undefined);
  }

  /** After the first signature: the key of a login that asks for one, then the result for the app. */
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

  /** A person of an unknown domain is asked once more. */
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
  const wallets = offeredWallets();
  const isWithout = hasLooked && wallets.length === 0 && !isDemo && !connected;
  const note = message ?? (isWithout ? { text: msg.noWalletWasFound } : undefined);
  return (
    <>
      {connected?.people.map((person) => (
        <button
          type="button"
          class="btn go"
          key={person.fid}
          aria-disabled={isBusy}
          onClick={() => !isBusy && attempt(() => signAs(connected, person))}
        >
          {warned === person.fid ? msg.iOpenedThisSignInAs(nameOf(person)) : msg.signInAs(nameOf(person))}
        </button>
      ))}
      {!connected &&
        wallets.map((wallet) => (
          <button
            type="button"
            class="btn go"
            key={wallet.id}
            aria-disabled={isBusy}
            onClick={() => !isBusy && attempt(() => connect(wallet))}
          >
            {wallet.icon !== undefined && <img src={wallet.icon} alt="" width={24} height={24} />}
            {msg.connect(wallet.name)}
          </button>
        ))}
      {isDemo && !connected && (
        <DemoForm isBusy={isBusy} warned={warned} onSign={(fid) => attempt(() => signAsDemo(fid))} />
      )}
      <p class="outcome" role="status" data-tone={note?.tone}>
        {note?.text}
      </p>
    </>
  );
}

function DemoForm(props: { isBusy: boolean; warned: number | undefined; onSign: (fid: number) => void }) {
  const { isBusy, warned, onSign } = props;
  const [text, setText] = useState(String(FIRST_PERSON));
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) onSign(Number(text));
      }}
    >
      <p class="s">{msg.thisIsADemoNetwork}</p>
      <label class="person-of-demo">
        {msg.personByFid}
        <input
          class="grow"
          name="fid"
          inputMode="numeric"
          pattern="[0-9]+"
          value={text}
          autoComplete="off"
          required
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="btn go" aria-disabled={isBusy}>
        {warned === Number(text) ? msg.iOpenedThisSignIn : msg.signInAsThisPerson}
      </button>
    </form>
  );
}

// A link that is over has no such element.
const root = document.getElementById("sign-in");
if (root) {
  const { base = "", kind, demo } = root.dataset;
  const opener = openerOf(root.dataset);
  root.replaceChildren();
  render(<SignIn base={base} isLogin={kind === "login"} isDemo={demo !== undefined} opener={opener} />, root);
}
