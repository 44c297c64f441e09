import { PageHead } from "../parts/page-head.tsx";

export function Page() {
  return <PageHead title="Explore" />;
}
