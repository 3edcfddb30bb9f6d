// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/**
 * A token for sandboxes and tests that meets its callers as USDC (FiatToken v2.2) does: EIP-3009 in both signature forms, blacklist,
 * pause, and the real token's revert texts. It is not USDC: `owner`, fixed when the code is placed, mints at will.
 *
 * The runtime code may be copied to another address and chain. Nothing is read from storage that a copy would lack, and the EIP-712
 * domain is built from the chain and the address that the code runs at. Immutables are filled by the constructor, so the code to
 * copy is what the creation code returns, never the compiler's template of it.
 */
contract TestUsdc is ERC3009 {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    uint256 private constant BASE = 8453;

    /// The only account that may mint, pause and blacklist.
    address public immutable owner;
    bool public paused;
    /// Balance, and in the highest bit whether the account is blacklisted: one slot to read, as in FiatToken v2.2.
    mapping(address account => uint256) private _states;
    uint256 private _supply;
    uint256 private constant BLACKLISTED = 1 << 255;

    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();
    event Mint(address indexed minter, address indexed to, uint256 amount);

    // Name and symbol live in code, not in the storage that these constructors fill.
    constructor(address owner_) ERC20("", "") EIP712("", "") {
        owner = owner_;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(_states[account] < BLACKLISTED, "Blacklistable: account is blacklisted");
        _;
    }

    /// Wallets sign over this name, and the two real tokens differ in it.
    function name() public view override returns (string memory) {
        return block.chainid == BASE ? "USD Coin" : "USDC";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 hashed_name = block.chainid == BASE ? keccak256("USD Coin") : keccak256("USDC");
        return keccak256(abi.encode(DOMAIN_TYPEHASH, hashed_name, keccak256("2"), block.chainid, address(this)));
    }

    function eip712Domain()
        public
        view
        override
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", name(), "2", block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    function totalSupply() public view override returns (uint256) {
        return _supply;
    }

    function balanceOf(address account) public view override returns (uint256) {
        return _states[account] & ~BLACKLISTED;
    }

    function isBlacklisted(address account) external view returns (bool) {
        return _states[account] >= BLACKLISTED;
    }

    function blacklist(address account) external onlyOwner {
        _states[account] |= BLACKLISTED;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyOwner {
        _states[account] &= ~BLACKLISTED;
        emit UnBlacklisted(account);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    function mint(address to, uint256 amount) external onlyOwner whenNotPaused notBlacklisted(to) returns (bool) {
        _mint(to, amount);
        emit Mint(msg.sender, to, amount);
        return true;
    }

    function transfer(
        address to,
        uint256 value
    ) public override whenNotPaused notBlacklisted(msg.sender) notBlacklisted(to) returns (bool) {
        return super.transfer(to, value);
    }

    function transferFrom(
        address from,
        address to,
        uint256 value
    ) public override whenNotPaused notBlacklisted(msg.sender) notBlacklisted(from) notBlacklisted(to) returns (bool) {
        return super.transferFrom(from, to, value);
    }

    function approve(
        address spender,
        uint256 value
    ) public override whenNotPaused notBlacklisted(msg.sender) notBlacklisted(spender) returns (bool) {
        return super.approve(spender, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public override {
        _transferSigned(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// The form of FiatToken v2.2 for signatures of any shape, selector 0xcf092995.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _transferSigned(from, to, value, validAfter, validBefore, nonce, signature);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) public override {
        _receiveSigned(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _receiveSigned(from, to, value, validAfter, validBefore, nonce, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) public override {
        _cancelSigned(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _cancelSigned(authorizer, nonce, signature);
    }

    function _transferSigned(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        _checkState(from, nonce, validAfter, validBefore);
        _checkSignature(
            from,
            keccak256(abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)),
            signature
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function _receiveSigned(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        _checkState(from, nonce, validAfter, validBefore);
        _checkSignature(
            from,
            keccak256(abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)),
            signature
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function _cancelSigned(address authorizer, bytes32 nonce, bytes memory signature) private whenNotPaused {
        require(!authorizationState(authorizer, nonce), "FiatTokenV2: authorization is used or canceled");
        _checkSignature(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        _cancelAuthorization(authorizer, nonce);
    }

    /// In FiatToken's order: too early, expired, used.
    function _checkState(address from, bytes32 nonce, uint256 validAfter, uint256 validBefore) private view {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState(from, nonce), "FiatTokenV2: authorization is used or canceled");
    }

    /// A signer that has code, a delegated account included, answers for itself through ERC-1271 in both signature forms.
    function _checkSignature(address signer, bytes32 struct_hash, bytes memory signature) private view {
        bytes32 digest = MessageHashUtils.toTypedDataHash(DOMAIN_SEPARATOR(), struct_hash);
        require(SignatureChecker.isValidSignatureNow(signer, digest, signature), "FiatTokenV2: invalid signature");
    }

    /// Judged by `_checkState` already; the base would read large times as block numbers, which the real token does not.
    function _checkValidity(uint256, uint256) internal view override {}

    /// Keeps balances in its own slots, and refuses with a text where the base has an error of its own.
    function _update(address from, address to, uint256 value) internal override {
        if (from == address(0)) {
            require(value < BLACKLISTED - _supply, "FiatToken: supply exceeds its bound");
            _supply += value;
        } else {
            uint256 state = _states[from];
            require(state & ~BLACKLISTED >= value, "ERC20: transfer amount exceeds balance");
            unchecked {
                _states[from] = state - value;
            }
        }
        // The supply is below the highest bit, so no balance reaches it.
        unchecked {
            _states[to] += value;
        }
        emit Transfer(from, to, value);
    }

    function _hashTypedDataV4(bytes32 struct_hash) internal view override returns (bytes32) {
        return MessageHashUtils.toTypedDataHash(DOMAIN_SEPARATOR(), struct_hash);
    }
}
