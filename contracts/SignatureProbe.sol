// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/**
 * Asks a wallet that is not deployed yet for its signature (ERC-6492): deploys it through its factory, asks it (ERC-1271) and returns one word, 1 for yes.
 * Run by eth_call as creation code, so nothing of this stays on the chain. A factory or wallet that fails gives 0.
 */
contract SignatureProbe {
    constructor(address wallet, bytes32 hash, bytes memory signature, address factory, bytes memory factory_data) {
        bool accepted = false;
        if (wallet.code.length == 0) {
            (bool called, ) = factory.call(factory_data);
            called;
        }
        if (wallet.code.length > 0) {
            (bool answered, bytes memory answer) = wallet.staticcall(abi.encodeCall(IERC1271.isValidSignature, (hash, signature)));
            accepted = answered && answer.length >= 32 && bytes32(answer) == bytes32(IERC1271.isValidSignature.selector);
        }
        assembly {
            mstore(0, accepted)
            return(0, 32)
        }
    }
}
