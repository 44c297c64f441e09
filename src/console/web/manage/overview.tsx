import { useState } from "preact/hooks";
import { get } from "../data/call.ts";
import { formatExact, formatMoment } from "../data/format.ts";
import type { User } from "../data/objects.ts";
import { useQuery } from "../data/query.ts";
import { Icon, type IconName } from "../icons.tsx";
import { type Owner, owner } from "../owner/owner.ts";
import { leave } from "../owner/session.ts";
import { Face } from "../parts/face.tsx";
import { Pill } from "../parts/pill.tsx";
import { displayNameOf, handleOf } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { ManagePage } from "./manage-page.tsx";

const DOORS: readonly { href: string; icon: IconName; title: string; text: string }[] = [
  {
    href: "/console/manage/apps",
    icon: "bell",
    title: "Mini apps",
    text: "Their audience, and pushes to it.",
  },
  {
    href: "/console/manage/webhooks",
    icon: "webhook",
    title: "Webhooks",
    text: "Events at your server as they happen, tried before you save.",
  },
  {
    href: "/console/manage/keys",
    icon: "code",
    title: "API keys",
    text: "For programs that write, or that read more.",
  },
  {
    href: "/console/manage/signers",
    icon: "wallet",
    title: "Signers",
    text: "Keys by which your apps act for users.",
  },
];

function Leave() {
  const [isBusy, setBusy] = useState(false);
  return (
    <button
      type="button"
      class="btn"
      disabled={isBusy}
      onClick={() => {
        setBusy(true);
        void leave().finally(() => setBusy(false));
      }}
    >
      Leave
    </button>
  );
}

function Who({ current }: { current: Owner }) {
  const { data } = useQuery<{ user: User }>(get("/user", { fid: current.fid }));
  const { session, fid } = current;
  const user = data?.user ?? { fid, username: String(fid), display_name: null };
  return (
    <section class="card pad stack" aria-label="Who you are">
      <div class="row wrap">
        <Face user={user} size={3} />
        <div class="grow roomy">
          <p>
            <b>
              <UserName name={displayNameOf(user)} />
            </b>{" "}
            <span class="dim">
              {handleOf(user)} · fid {fid}
            </span>
          </p>
          <p class="xs mono dim user">{current.address}</p>
        </div>
        {current.isDemo && <Pill kind="warn">demo person</Pill>}
        <Leave />
      </div>
      {session && (
        <p class="s dim">
          This browser {session.access === "operate" ? "reads, tests and replays" : "reads"} for fid {fid}{" "}
          until{" "}
          <time
            dateTime={new Date(session.expiresAt * 1000).toISOString()}
            title={formatExact(session.expiresAt * 1000)}
          >
            {formatMoment(session.expiresAt * 1000)}
          </time>
          . “Leave” ends that here and on the node.
        </p>
      )}
      {!current.wallet && session && (
        <p class="s dim">{current.walletName} is not open in this browser now. Reading works without it.</p>
      )}
    </section>
  );
}

/** Connecting, choosing the fid, the session, and where to go from here. */
export function Page() {
  return (
    <ManagePage title={owner.value ? "Manage" : "Manage what is yours"}>
      {(current) => (
        <>
          <Who current={current} />
          <div class="split even doors">
            {DOORS.map(({ href, icon, title, text }) => (
              <a class="card door" href={href} key={href}>
                <Icon name={icon} size={22} />
                <h2>{title}</h2>
                <p class="dim">{text}</p>
              </a>
            ))}
          </div>
        </>
      )}
    </ManagePage>
  );
}
