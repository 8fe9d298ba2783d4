// Reads the shim's recording of the disk calls of a process, in order.

type Change =
  | { kind: 'write'; path: string; at: number; data: Buffer }
  | { kind: 'truncate'; path: string; size: number }
  /** A sync of a file or a folder. */
  | { kind: 'sync'; path: string }
  | { kind: 'create' | 'folder' | 'unlink'; path: string }
  | { kind: 'rename'; path: string; to: string };

/** `no`: the number of the call, for settings of the shim such as PROOF_KILL. */
export type DiskCall = Change & { no: number };

const headBytes = 24;

/** Paths are relative to `root`; the root itself is ''. */
export function readRecording(bytes: Buffer, root: string): DiskCall[] {
  const calls: DiskCall[] = [];
  for (let at = 0; at < bytes.length;) {
    const letter = String.fromCodePoint(bytes.readUInt8(at));
    const no = bytes.readUIntLE(at + 1, 3);
    const pathBytes = bytes.readUInt32LE(at + 4);
    const place = Number(bytes.readBigUInt64LE(at + 8));
    const dataBytes = Number(bytes.readBigUInt64LE(at + 16));
    const pathEnd = at + headBytes + pathBytes;
    const path = bytes.toString('utf8', at + headBytes, pathEnd).slice(root.length);
    const data = bytes.subarray(pathEnd, pathEnd + dataBytes);
    calls.push({ no, ...callOf({ letter, path, place, data, root }) });
    at = pathEnd + dataBytes;
  }
  return calls;
}

interface Parts {
  letter: string;
  path: string;
  place: number;
  data: Buffer;
  root: string;
}

function callOf({ letter, path, place, data, root }: Parts): Change {
  switch (letter) {
    case 'W':
      return { kind: 'write', path, at: place, data };
    case 'T':
      return { kind: 'truncate', path, size: place };
    case 'S':
      return { kind: 'sync', path };
    case 'C':
      return { kind: 'create', path };
    case 'D':
      return { kind: 'folder', path };
    case 'U':
      return { kind: 'unlink', path };
    case 'R':
      return { kind: 'rename', path, to: data.toString().slice(root.length) };
    default:
      throw new Error(`Cannot read the recording: a call of kind "${letter}"`);
  }
}
