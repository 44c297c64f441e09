import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Owner } from "../owner/owner.ts";
import { OwnerOnly } from "../owner/owner-only.tsx";
import { type Crumb, PageHead } from "../parts/page-head.tsx";
import { PausedNotice } from "../parts/paused-notice.tsx";

const ENTRIES = [
  { href: "/console/manage", label: "Overview" },
  { href: "/console/manage/apps", label: "Mini apps", also: "/console/manage/campaigns" },
  { href: "/console/manage/webhooks", label: "Webhooks" },
  { href: "/console/manage/keys", label: "API keys" },
  { href: "/console/manage/signers", label: "Signers" },
  { href: "/console/manage/activity", label: "Activity" },
] as const satisfies readonly { href: string; label: string; also?: string }[];

/** What stays in sight of the entry before the current one. */
const EDGE_PX = 48;

/** Whether a page is one of an entry's. */
function isWithin(path: string, entry: { readonly href: string; readonly also?: string }): boolean {
  return path.startsWith(entry.href) || (entry.also !== undefined && path.startsWith(entry.also));
}

/** The frame of every page of the owner: its heading, the pages beside it, and the way to connect for other visitors. */
export function ManagePage({
  title,
  crumbs = [],
  actions,
  children,
}: {
  title: string;
  /** Between "Manage" and the title. */
  crumbs?: readonly Crumb[];
  /** Beside the heading. */
  actions?: ComponentChildren;
  children: (owner: Owner) => ComponentChildren;
}) {
  const { path } = useLocation();
  const isOverview = path.replace(/\/$/, "") === "/console/manage";
  const way = [{ label: "Manage", href: "/console/manage" }, ...crumbs, { label: title }];
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
        <nav aria-label="Manage" ref={nav}>
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
