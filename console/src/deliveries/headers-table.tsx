// Headers, one per row.
import './headers-table.css';
import type { JSX } from 'preact';
import { UntrustedText } from '../components/untrusted-text.tsx';

export function HeadersTable({
  label,
  headers,
}: {
  readonly label: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}): JSX.Element {
  if (headers.length === 0) return <p class="soft">No headers.</p>;
  return (
    <table class="headers" aria-label={label}>
      <tbody>
        {headers.map(([name, value], at) => (
          <tr key={at}>
            <th scope="row">
              <UntrustedText text={name} mono />
            </th>
            <td>
              <UntrustedText text={value} mono />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
