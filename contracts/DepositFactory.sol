// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

/**
 * Deposit address of one invoice. It can only send whole balances to its merchant, which is part of its code and never changes. It has no
 * owner, no key, no storage and no approvals, so anyone may call `sweep`, as often as they like.
 */
contract DepositAddress {
    /// The only recipient. Meaningless for the implementation itself, which only its clones use.
    function merchant() public view returns (address) {
        return address(bytes20(Clones.fetchCloneArgs(address(this))));
    }

    /// Sends the whole balance of a token to the merchant; the zero address is the coin of the chain.
    function sweep(address token) external {
        if (token == address(0)) {
            Address.sendValue(payable(merchant()), address(this).balance);
        } else {
            SafeERC20.safeTransfer(IERC20(token), merchant(), IERC20(token).balanceOf(address(this)));
        }
    }
}

/**
 * Places deposit addresses by CREATE2 and sweeps them, many in one transaction. An address follows from the salt and the merchant, so money
 * can be sent to it before it has code. The factory has no owner, no storage and never holds a balance.
 */
contract DepositFactory {
    struct Deposit {
        /// keccak-256 of the invoice id.
        bytes32 salt;
        address merchant;
    }

    address public immutable implementation = address(new DepositAddress());

    /// The deposit at this index was not swept: the token refused the transfer, or the gas ran out.
    event Failed(uint256 index);

    function addressOf(bytes32 salt, address merchant) public view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(implementation, abi.encodePacked(merchant), salt);
    }

    /// Sweeps each deposit, and deploys those without code first. One deposit never fails another.
    function sweep(address token, Deposit[] calldata deposits) external {
        for (uint256 index = 0; index < deposits.length; ++index) {
            (bytes32 salt, address merchant) = (deposits[index].salt, deposits[index].merchant);
            address deposit = addressOf(salt, merchant);
            if (deposit.code.length == 0) {
                Clones.cloneDeterministicWithImmutableArgs(implementation, abi.encodePacked(merchant), salt);
            }
            try DepositAddress(deposit).sweep(token) {} catch {
                emit Failed(index);
            }
        }
    }
}
