import type { Contract } from '../../contract/contract.ts';
export function docsPage(contract: Contract): { html: string; contentSecurityPolicy: string } {
  return { html: contract.title, contentSecurityPolicy: "default-src 'none'" };
}
