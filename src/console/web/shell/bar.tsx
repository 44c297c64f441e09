import { useLocation } from "preact-iso";
import { Icon } from "../icons.tsx";
import { WalletButton } from "../owner/owner-parts.tsx";
import { pageConfig } from "../page-config.ts";
import { pages, type Section } from "../routes.ts";
import { isPageServed } from "../served-pages.ts";
import { SearchBox } from "./search-box.tsx";

const SECTIONS: readonly { readonly section: Section; readonly href: string; readonly label: string }[] = [
  { section: "explore", href: "/console", label: "Explore" },
  { section: "stream", href: "/console/stream", label: "Stream" },
  { section: "manage", href: "/console/manage", label: "Manage" },
  { section: "status", href: "/console/status", label: "Status" },
];

/** The section of the page at a path; undefined where this node has no page. */
function sectionOf(path: string): Section | undefined {
  const segments = path.split("/");
  const isAt = (pattern: string) => {
    const parts = pattern.split("/");
    return (
      parts.length === segments.length && parts.every((part, at) => part[0] === ":" || part === segments[at])
    );
  };
  const page = pages.find((one) => isAt(one.path));
  return page && isPageServed(page.path, pageConfig) ? page.section : undefined;
}

/** The header row of every page. */
export function Bar() {
  const { path } = useLocation();
  const current = sectionOf(path);
  const shown = SECTIONS.filter(({ href }) => isPageServed(href, pageConfig));
  return (
    <header class="bar">
      <a class="brand" href="/">
        <Icon name="broadcast" size={22} /> {pageConfig.service}
      </a>
      <nav aria-label="Main">
        {shown.map(({ section, href, label }) => (
          <a href={href} key={section} aria-current={section === current ? "page" : undefined}>
            {label}
          </a>
        ))}
        <a href="/docs" target="_self" data-native>
          API
        </a>
      </nav>
      <SearchBox />
      <WalletButton />
    </header>
  );
}
