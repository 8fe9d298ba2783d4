// Generated from openapi.yaml by `npm run docs`: the types of error responses.

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
