/** The client's access key and password: from an identity, or the judge's own. */
import { CannotRun } from '../adapter.ts';
import { LocalError, parseIdentity } from '../protocol.ts';
import { readAtMost } from '../read-file.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly password: string;
  /** The parts that may be shown. */
  readonly shown: { readonly accessKey: string; readonly password: string };
}

/** In base64 it has + and /, whose escaping is easily forgotten. */
const ACCESS_KEY = 'judge-~~~~~?????';
const PASSWORD = 'correct horse battery staple';

/**
 * @param path - of the identity, if there is one
 * @throws CannotRun
 */
export function credentialsOf(path: string | undefined): Credentials {
  if (path === undefined) {
    const own = { accessKey: ACCESS_KEY, password: PASSWORD };
    return { ...own, shown: own };
  }
  const { accessKey, password } = readIdentity(path);
  return { accessKey, password, shown: { accessKey: `[of ${path}]`, password: `[of ${path}]` } };
}

function readIdentity(path: string): Pick<Credentials, 'accessKey' | 'password'> {
  try {
    const contents = readAtMost(path);
    if (contents === undefined) throw new CannotRun(`${path} is too long for an identity`);
    return parseIdentity(contents);
  } catch (error) {
    if (error instanceof CannotRun) throw error;
    const reason = error instanceof LocalError ? error.message : (error as NodeJS.ErrnoException).code;
    throw new CannotRun(`cannot read the identity, ${path}: ${reason}`);
  }
}
