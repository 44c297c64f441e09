import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PausedNotice } from "../content/node-state.tsx";
import type { Owner } from "../owner/owner.ts";
import { OwnerOnly } from "../owner/owner-only.tsx";
import { type Crumb, PageHead } from "../parts/page-head.tsx";
import * as msg from "../text/en/manage/manage.ts";

const ENTRIES = [
  { href: "/console/manage", label: msg.overview },
  { href: "/console/manage/apps", label: msg.miniApps, also: "/console/manage/campaigns" },
  { href: "/console/manage/webhooks", label: msg.webhooks },
  { href: "/console/manage/keys", label: msg.apiKeys },
  { href: "/console/manage/signers", label: msg.signers },
  { href: "/console/manage/login", label: msg.signIn },
  { href: "/console/manage/notices", label: msg.notices },
  { href: "/console/manage/activity", label: msg.activity },
] as const satisfies readonly { href: string; label: string; also?: string }[];

/** How much of the previous entry stays visible. */
const EDGE_PX = 48;

/** Reports whether a page belongs to an entry. */
function isWithin(path: string, entry: { readonly href: string; readonly also?: string }): boolean {
  return path.startsWith(entry.href) || (entry.also !== undefined && path.startsWith(entry.also));
}

/** The frame of every page of the owner: its heading, links to the other pages and, for other visitors, the way to connect. */
export function ManagePage(props: {
  title: string;
  /** Shown between "Manage" and the title. */
  crumbs?: readonly Crumb[];
  /** Shown next to the heading. */
  actions?: ComponentChildren;
  children: (owner: Owner) => ComponentChildren;
}) {
  const { title, crumbs = [], actions, children } = props;
  const { path } = useLocation();
  const isOverview = path.replace(/\/$/, "") === "/console/manage";
  const way = [{ label: msg.manage, href: "/console/manage" }, ...crumbs, { label: title }];
  const nav = useRef<HTMLElement>(null);
  // On a phone the row of entries is wider than the window.
  useEffect(() => {
    const entry = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && entry) nav.current.scrollLeft = entry.offsetLeft - nav.current.offsetLeft - EDGE_PX;
  }, [path]);
  return (
    <>
      <PageHead title={title} {...(isOverview ? {} : { crumbs: way })}>
        {actions}
      </PageHead>
      <PausedNotice />
      <div class="side">
        <nav aria-label={msg.manage} ref={nav}>
          {ENTRIES.map((entry) => (
            <a
              href={entry.href}
              key={entry.href}
              aria-current={
                (entry.href === "/console/manage" ? isOverview : isWithin(path, entry)) ? "page" : undefined
              }
            >
              {entry.label}
            </a>
          ))}
        </nav>
        <OwnerOnly>{children}</OwnerOnly>
      </div>
    </>
  );
}
