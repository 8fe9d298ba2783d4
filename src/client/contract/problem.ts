// Made from openapi.yaml by `npm run docs`: what the contract says of what an answer says that is a refusal.

export interface Problem {
  type: string;
  title: string;
  status: number;
  /** Stable; see docs/errors.md. */
  code: string;
  detail: string;
  requestId: string;
  errors?: readonly {
    field: string;
    message: string;
  }[];
}
