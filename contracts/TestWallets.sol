// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// A smart account for tests: ERC-1271 over the signature of its owner, unless it is told to misbehave.
contract TestWallet is IERC1271 {
    enum Mood {
        Willing,
        Refusing,
        Burning
    }

    address public immutable owner;
    Mood public mood;

    constructor(address owner_) {
        owner = owner_;
    }

    /// Open to everybody: a test switches it at the worst moment.
    function setMood(Mood mood_) external {
        mood = mood_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (mood == Mood.Burning) {
            assembly {
                invalid()
            }
        }
        (address signer, ECDSA.RecoverError fault, ) = ECDSA.tryRecoverCalldata(hash, signature);
        bool good = mood == Mood.Willing && fault == ECDSA.RecoverError.NoError && signer == owner;
        return good ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// Places wallets at addresses that are known beforehand, as ERC-6492 signatures of undeployed accounts need it.
contract TestWalletFactory {
    /// Returns the wallet of this owner and salt; makes it when it is not there yet.
    function createAccount(address owner, bytes32 salt) external returns (address wallet) {
        wallet = getAddress(owner, salt);
        if (wallet.code.length == 0) new TestWallet{salt: salt}(owner);
    }

    function getAddress(address owner, bytes32 salt) public view returns (address) {
        bytes32 code_hash = keccak256(abi.encodePacked(type(TestWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, code_hash)))));
    }
}
