import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { keccak256, recoverAddress, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { transferTypes } from './authorization.ts'

const ASK = `import json, os, urllib.request

def ask(**question):
    data = json.dumps(question).encode()
    with urllib.request.urlopen(urllib.request.Request(os.environ["ORACLE"], data=data)) as answer:
        return json.load(answer)
`
/** Python modules that stand in for the cryptographic packages; they ask the oracle. */
export const PYTHON_STUBS: Record<string, string> = {
  'oracle.py': ASK,
  'eth_utils.py': `from oracle import ask

def keccak(data):
    return bytes.fromhex(ask(op="keccak", data="0x" + data.hex())[2:])
`,
  'eth_keys.py': `from oracle import ask

class Key:
    def __init__(self, address):
        self.address = address
    def to_address(self):
        return self.address

class Signature:
    def __init__(self, raw):
        assert len(raw) == 65 and raw[64] in (0, 1)
        self.raw = raw
    def recover_public_key_from_msg_hash(self, digest):
        raw = self.raw[:64] + bytes([self.raw[64] + 27])
        return Key(ask(op="recover", hash="0x" + digest.hex(), signature="0x" + raw.hex()))

class keys:
    Signature = Signature
`,
  'eth_account.py': `from oracle import ask

class Signed:
    def __init__(self, signature):
        self.signature = bytes.fromhex(signature[2:])

class Account:
    @classmethod
    def from_key(cls, key):
        account = cls()
        account.key = key
        account.address = ask(op="address", key=key)
        return account
    def sign_typed_data(self, domain_data, message_types, message_data):
        message = {name: "0x" + value.hex() if isinstance(value, bytes) else value for name, value in message_data.items()}
        return Signed(ask(op="sign", key=self.key, domain=domain_data, types=message_types, message=message))
`,
}

interface Question {
  op: string
  key: Hex
  data: Hex
  hash: Hex
  signature: Hex
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
  types: typeof transferTypes
  message: { from: Hex; to: Hex; value: number; validAfter: number; validBefore: number; nonce: Hex }
}

async function answerOf(question: Question): Promise<string> {
  switch (question.op) {
    case 'keccak':
      return keccak256(question.data)
    case 'recover':
      return (await recoverAddress(question)).toLowerCase()
    case 'address':
      return privateKeyToAccount(question.key).address
    default: {
      const { key, domain, types, message } = question
      assert.deepEqual(types, transferTypes)
      const numbers = { value: BigInt(message.value), validAfter: BigInt(message.validAfter), validBefore: BigInt(message.validBefore) }
      const whole = { domain, types, primaryType: 'TransferWithAuthorization', message: { ...message, ...numbers } } as const
      return privateKeyToAccount(key).signTypedData(whole)
    }
  }
}

/** Answers the stubs with viem. */
export async function startOracle() {
  const server = createServer((request, response) => {
    text(request)
      .then((body) => answerOf(JSON.parse(body) as Question))
      .then((answer) => response.end(JSON.stringify(answer)))
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { url: `http://127.0.0.1:${address.port}`, stop: () => void server.close() }
}
